import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { installed, runProgram } from './cache.ts';
import { installDebian } from './debian.ts';

/** How to start AWS's stand-in and its command line, without the arguments. */
export interface AwsTools {
  /** A server that speaks the protocols of CloudFormation, SQS, IAM and others. */
  moto: string[];
  /** AWS's command line. */
  aws: string[];
  /** Checks templates of CloudFormation against AWS's own schemas. */
  cfnLint: string[];
}

/** Installs moto, with AWS's command line, from PyPI. */
export async function awsTools(): Promise<AwsTools> {
  const folder = await installed({
    name: 'moto',
    versions: 'requirements.txt',
    async install(folder, versions) {
      await runProgram('python3', ['-m', 'venv', folder], folder);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', versions];
      await runProgram(join(folder, 'bin/python'), pip, folder);
    },
  });
  // The scripts in bin name the folder in which they were installed.
  const python = join(folder, 'bin/python');
  const module = (name: string) => [python, '-m', name];
  return {
    moto: module('moto.server'),
    aws: module('awscli'),
    cfnLint: [python, '-c', 'import sys; from cfnlint.runner import main; sys.exit(main())'],
  };
}

/**
 * Installs AWS's runtime client for Lambda and returns its entry. It compiles an add-on for more than a minute, so it is
 * no dependency of this repository.
 */
export async function lambdaRuntimeClient(): Promise<string> {
  const folder = await installed({
    name: 'aws-lambda-ric',
    versions: 'package-lock.json',
    async install(folder, versions) {
      await installDebian(['cmake']);
      for (const name of ['package.json', 'package-lock.json']) {
        await copyFile(join(dirname(versions), name), join(folder, name));
      }
      await runProgram('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
      // Recent versions of npm run no script of a package without being asked to.
      const scripts = join(folder, 'node_modules/aws-lambda-ric/scripts');
      await runProgram('sh', [join(scripts, 'preinstall.sh')], folder);
      await runProgram('sh', [join(scripts, 'postinstall.sh')], folder, nodeHeaders());
    },
  });
  return join(folder, 'node_modules/aws-lambda-ric/index.mjs');
}

/** Names the headers that came with Node.js, where they did: otherwise node-gyp downloads them from its site. */
function nodeHeaders(): NodeJS.ProcessEnv {
  const prefixes = [dirname(dirname(process.execPath)), '/usr/local', '/usr'];
  const npm_config_nodedir = prefixes.find((prefix) => existsSync(join(prefix, 'include/node/node_api.h')));
  return npm_config_nodedir === undefined ? {} : { npm_config_nodedir };
}
