/** Loaded before each file of the tests: properties that name no seed have the one of the run. */
import fc from 'fast-check';
import { inject } from 'vitest';

const seed = inject('propertySeed');
if (seed !== null) fc.configureGlobal({ seed });
