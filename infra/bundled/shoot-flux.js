#!/usr/bin/env node
// The entry of the bundle. It starts every command, like `infra/cli/shoot-flux.js` from sources.
import { prepareProcess } from '../cli/prepare.js';
import { load } from './load.ts';

const [, , command = ''] = process.argv;
prepareProcess(command);
// V8 refuses code that was compiled with other flags, and each command needs other code, so each has its own.
load('main', /^[a-z]+$/.test(command) ? command : 'other');
