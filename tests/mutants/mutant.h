/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The switch of generated mutants; tests/mutants/generate adds its uses to a copy of the tree. */
#ifndef TESTS_MUTANTS_MUTANT_H
#define TESTS_MUTANTS_MUTANT_H

/* The mutant that is active in this process, from the environment variable LNET_MUTANT; 0: none. */
extern int lnet_mutant;
/* One byte per mutant, nonzero if the process has reached it; a file if LNET_MUTANT_MAP names one. */
extern volatile unsigned char *lnet_mutant_map;

/* Is mutant @id active? Also records that the process has reached it. */
#define LNET_MUTANT(id)	(lnet_mutant_map[id] = 1, lnet_mutant == (id))

#endif
