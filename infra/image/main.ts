import { flag, makeCommand, text } from '../make-command.ts';
import { builders, makeImage } from './image.ts';

const help = `Usage:
  npm run image -- --tag NAME:TAG [options]

Build the container image, which has all commands.

Options:
  --tag NAME:TAG        Name of the image (required).
  --builder NAME        docker, podman or buildah. Default: docker.
  --distribution DIR    Make this distribution part of the image, at /flux-distribution. Without it, mount one there.
  --base-image IMAGE    Replace the base: libc, libstdc++ and certificates.
  --node-image IMAGE    Replace the image with Node.js 24 as /usr/local/bin/node.
  --image-version TEXT  Version in the image's label. Default: the version of this checkout.
  --sbom FILE           Write the bill of materials (CycloneDX).
  --oci DIR             Write the image in OCI's layout; with podman and buildah.
  --push                Push the image to the registry that its name begins with.
  --insecure-registry   The registry speaks HTTP; with podman and buildah.
  --help                Show this help.

The environment variable SOURCE_DATE_EPOCH is the time of the image and of its files. Default: 0.
Exit codes: 0 success, 1 failure, 2 wrong usage.
`;

const options = {
  ...{ tag: text, builder: text, distribution: text, 'base-image': text, 'node-image': text, 'image-version': text },
  ...{ sbom: text, oci: text, push: flag, 'insecure-registry': flag },
};

await makeCommand(help, options, async (values) => {
  const builder = builders.find((name) => name === (values.builder ?? 'docker'));
  if (values.tag === undefined || builder === undefined) return undefined;
  await makeImage({
    builder,
    tag: values.tag,
    version: values['image-version'],
    nodeImage: values['node-image'],
    baseImage: values['base-image'],
    distribution: values.distribution,
    oci: values.oci,
    sbom: values.sbom,
    push: values.push,
    insecureRegistry: values['insecure-registry'],
    epoch: process.env.SOURCE_DATE_EPOCH,
  });
  return `${values.tag} is built.\n`;
});
