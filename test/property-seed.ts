import fc from 'fast-check';
import { numericSeed } from './scenarios/sampling.ts';

// Properties draw the same cases as long as `SHOOT_FLUX_SEED` stays, so that every run can be repeated.
fc.configureGlobal({ seed: numericSeed });
