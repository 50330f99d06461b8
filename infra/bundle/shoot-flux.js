#!/usr/bin/env node
// The entry of the bundle, like `infra/cli/shoot-flux.js` from sources.
import { prepareProcess } from '../cli/prepare.js';

prepareProcess(process.argv[2]);
// Without `await`: CommonJS cannot wait here.
void import('../cli/main.ts');
