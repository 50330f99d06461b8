import { objectIssues } from '../policy/objects.ts';
import { listedProblems } from './check.ts';
import { mergeListed } from './merge.ts';
import { readObjects } from './read-objects.ts';
import { provideListedRules } from './rules.ts';
import { secretUses } from './secret-uses.ts';

// A static import of this file makes the code available at once; `load.ts` imports it on demand.
provideListedRules({ readObjects, mergeListed, listedProblems, objectIssues, secretUses });
