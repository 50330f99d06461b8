import { parseArgs } from 'node:util';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { builders } from '../image/builder.ts';
import { makeRelease } from './release.ts';

const help = `Usage:
  npm run release -- --version X --registry R [options]

Write everything that a release consists of into a folder: image, charts, registrations with Gardener, packages for
Lambda, manifests for Knative, bill of materials, notes and checksums. Nothing is published.

Options:
  --version X          Version, like 0.1.0; CHANGELOG.md must have a section for it (required).
  --registry R         Registry of image and charts, for example registry.example.com/gardener (required).
  --out DIR            Folder to write. Default: dist/release.
  --distribution DIR   Make this distribution part of the image and of the packages for Lambda.
  --builder NAME       podman or buildah. Default: buildah.
  --base-image IMAGE   Replace the base of the image.
  --node-image IMAGE   Replace the image with Node.js 24.
  --no-image           Leave out the image and its bill of materials.
  --help               Show this help.

The environment variable SOURCE_DATE_EPOCH is the time of the image and of its files. Default: 0.
Exit codes: 0 success, 1 failure, 2 wrong usage.
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const options = {
  ...{ version: text, registry: text, out: text, distribution: text, builder: text },
  ...{ 'base-image': text, 'node-image': text, 'no-image': flag, help: flag },
};

/** @returns the exit code */
async function main(args: string[]): Promise<number> {
  const values = parse(args);
  if (values?.help === true) {
    process.stdout.write(help);
    return 0;
  }
  // docker writes no OCI layout.
  const builder = builders.find((name) => name !== 'docker' && name === (values?.builder ?? 'buildah'));
  if (values?.version === undefined || values.registry === undefined || builder === undefined) {
    process.stderr.write(help);
    return 2;
  }
  const { version, registry, distribution, out = 'dist/release' } = values;
  const image = { builder, baseImage: values['base-image'], nodeImage: values['node-image'] };
  try {
    await makeRelease({
      ...{ version, registry, out, distribution, epoch: process.env.SOURCE_DATE_EPOCH },
      image: values['no-image'] === true ? undefined : image,
    });
  } catch (error) {
    process.stderr.write(`${error instanceof ShootFluxError ? errorMessage(error) : (error as Error).stack}\n`);
    return 1;
  }
  process.stdout.write(`${out} has the release ${version}.\n`);
  return 0;
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n\n`);
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
