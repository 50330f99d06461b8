import { builders } from '../image/image.ts';
import { flag, makeCommand, text } from '../make-command.ts';
import { makeRelease } from './release.ts';

const help = `Usage:
  npm run release -- --version X --registry R [options]

Write everything that a release consists of into a folder: image, charts, registrations with Gardener, packages for
Lambda, manifests for Knative, JSON Schemas, bill of materials, notes and checksums. Nothing is published.

Options:
  --version X          Version, like 0.1.0; CHANGELOG.md must have a section for it (required).
  --registry R         Registry of image and charts, for example registry.example.com/gardener (required).
  --out DIR            Folder to write. Default: dist/release.
  --distribution DIR   Make this distribution part of the image and of the packages for Lambda.
  --downloads URL      Where the files will be found: adds the manifests by which krew and flux install the command.
  --builder NAME       podman or buildah. Default: buildah.
  --base-image IMAGE   Replace the base of the image.
  --node-image IMAGE   Replace the image with Node.js 24.
  --no-image           Leave out the image and its bill of materials.
  --help               Show this help.

The environment variable SOURCE_DATE_EPOCH is the time of the image and of its files. Default: 0.
Exit codes: 0 success, 1 failure, 2 wrong usage.
`;

const options = {
  ...{ version: text, registry: text, out: text, distribution: text, downloads: text, builder: text },
  ...{ 'base-image': text, 'node-image': text, 'no-image': flag },
};

await makeCommand(
  help,
  options,
  async ({ version, registry, out = 'dist/release', distribution, downloads, ...values }) => {
    // docker writes no OCI layout.
    const builder = builders.find((name) => name !== 'docker' && name === (values.builder ?? 'buildah'));
    if (version === undefined || registry === undefined || builder === undefined) return undefined;
    const image = { builder, baseImage: values['base-image'], nodeImage: values['node-image'] };
    await makeRelease({
      ...{ version, registry, out, distribution, downloads, epoch: process.env.SOURCE_DATE_EPOCH },
      image: values['no-image'] === true ? undefined : image,
    });
    return `${out} has the release ${version}.\n`;
  },
);
