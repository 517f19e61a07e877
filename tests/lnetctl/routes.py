# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of tests/lnetctl/run with routes: output of show, filters, files, and rejected routes."""

from nodes import NO_DIFFERENCE, captured, check, configured, equal, error_of

OWN, GATEWAY, OTHER = "127.0.0.2@tcp", "127.0.0.8@tcp", "127.0.0.9@tcp"


def lines(text):
    """Sorted lines, because the order of routes has no meaning."""
    return sorted(text.splitlines())


def add(node, *words):
    node.ok("route", "add", "--net", "tcp5", "--gateway", GATEWAY, *words)


def test_route_show():
    """route show prints the same as the stock tool in its captures; filters; a route for each gateway."""
    node = configured("route-show", OWN)
    equal("no routes, no words", node.ctl("route", "show"), (0, "", ""))
    add(node, "--hop", "2", "--priority", "3")
    theirs = captured("21-route-show").replace("10.77.0.3@tcp", GATEWAY)
    equal("show", node.ok("route", "show"), theirs)
    ours, theirs = node.ok("route", "show", "-v"), captured("22-route-show-v").replace("10.77.0.3@tcp", GATEWAY)
    equal("show -v", ours.replace("state: up", "state: down"), theirs)
    node.ok("peer", "add", "--prim_nid", GATEWAY, "--nid", "10.5.0.8@tcp5")
    check("a gateway that is known on that net", "type: single-hop" in node.ok("route", "show", "-v"))
    node.ok("peer", "del", "--prim_nid", GATEWAY, "--nid", "10.5.0.8@tcp5")
    rc, out, err = node.ctl("route", "add", "--net", "tcp5", "--gateway", GATEWAY)
    theirs = captured("23-route-add-dup").replace('local"', 'local: tcp5 has a route by %s"' % GATEWAY)
    equal("a duplicate: stock's text, and then the reason", (rc, out, err), (234, "", theirs))
    node.ok("route", "add", "--net", "tcp6", "--gateway", GATEWAY + "," + OTHER)
    equal("all", node.ok("route", "show").count("gateway: "), 3)
    for words, nr in (("--net tcp6", 2), ("--gateway " + GATEWAY, 2), ("--hop 2", 1), ("--priority 0", 2),
                      ("--net tcp6 --gateway " + OTHER, 1), ("--net tcp7", 0), ("--hop 3", 0)):
        equal("show %s" % words, node.ok("route", "show", *words.split()).count("gateway: "), nr)
    for words in ("route add --net tcp --gateway 127.0.0.8@tcp", "route del --net tcp7 --gateway 127.0.0.8@tcp",
                  "route add --net tcp5 --gateway 10.0.0.1@tcp9", "route add --net tcp --gateway 0@lo",
                  "net add --nid 127.0.0.2@tcp5", "peer del --prim_nid 127.0.0.8@tcp"):
        rc, out, err = node.ctl(*words.split())
        check("%s is refused" % words, rc and not out and error_of(err), (rc, out, err))
    for words, said in (("add --net lo --gateway " + GATEWAY, "no route reaches a loopback interface"),
                        ("add --net tcp9 --gateway " + OWN, "it is an interface of this node"),
                        ("add --net tcp9 --gateway 10.0.0.9@tcp9", "the gateway is on that net"),
                        ("del --net tcp9 --gateway " + GATEWAY, "route to tcp9 by gateway %s not found" % GATEWAY)):
        rc, _, err = node.ctl("route", *words.split())
        check("route %s says why" % words, rc == 234 and said in err, (rc, err))
    node.ok("route", "del", "--net", "tcp6", "--gateway", GATEWAY + "," + OTHER)
    node.ok("route", "del", "--net", "tcp5", "--gateway", GATEWAY)
    equal("all are gone", node.ok("route", "show"), "")
    node.stop()


def test_route_files():
    """An export makes the same configuration; plans; a file is applied as a whole or not at all."""
    node = configured("route-files", OWN)
    add(node, "--hop", "2", "--priority", "3")
    node.ok("route", "add", "--net", "tcp6", "--gateway", OTHER)
    node.ok("peer", "add", "--prim_nid", "10.7.0.2@tcp5")
    backup = node.ok("export", "--backup")
    check("the backup has them", backup.count("gateway: ") == 2 and "state:" not in backup, backup)
    check("the full export, too", "type: multi-hop" in node.ok("export"))
    routes = node.ok("route", "show", "-v")
    shown = node.ok("import", "--show", stdin=routes)
    equal("import --show", shown.replace("state: down", "state: up"), routes.replace("state: down", "state: up"))
    node.ok("import", "--del", stdin=routes)
    equal("import --del", node.ok("route", "show"), "")
    node.ok("import", stdin=routes)
    equal("import", node.ok("export", "--backup"), backup)
    equal("nothing to do", node.ok("plan", "-", stdin=backup), NO_DIFFERENCE)
    changed = backup.replace("priority: 3", "priority: 4")
    plan = node.ok("plan", "-", stdin=changed)
    check("a plan replaces what differs", plan.count("gateway: " + GATEWAY) == 2 and OTHER not in plan, plan)
    node.ok("apply", "-", stdin=changed)
    equal("apply", lines(node.ok("export", "--backup")), lines(changed))
    rc, _, err = node.ctl("import", stdin="route:\n- net: tcp7\n  gateway: %s\n- net: tcp8\n  gateway: 10.0.0.1@tcp8\n"
                          % OTHER)
    check("all or nothing", rc == 234 and "line 4" in err, (rc, err))
    equal("nothing", lines(node.ok("export", "--backup")), lines(changed))
    node.ok("apply", "-", stdin=backup)
    equal("and back", lines(node.ok("export", "--backup")), lines(backup))
    node.ok("lnet", "unconfigure")
    node.ok("lnet", "configure")
    equal("nothing outlives unconfigure", node.ok("route", "show"), "")
    node.stop()
    empty = configured("route-empty", "127.0.0.3@tcp")
    empty.ok("net", "del", "--net", "tcp")
    empty.ok("import", stdin=backup)
    equal("a node built from the backup", empty.ok("export", "--backup"), backup)
    empty.stop()
