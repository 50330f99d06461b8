import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { parseAllDocuments, stringify } from 'yaml';
import { CHECKSUMS, checksumText } from '../../../shared/flux/release-files.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** The release before the stand-in. */
export const FORMER_RELEASE = 'v2.8.0';

/** Versions of CRDs in the former release; each also stores objects in the first one. */
const formerVersions: Record<string, string[]> = {
  // The stand-in stores a version that the former release does not have.
  OCIRepository: ['v1beta2'],
  // Both have the version that the stand-in stores.
  GitRepository: ['v1beta2', 'v1'],
};

/**
 * Returns a folder with the stand-in release and a former one, in whose CRDs objects are stored in versions that the
 * stand-in has dropped. It is deleted when the process ends.
 */
export async function twoReleases(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'two-releases-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { folder: standIns, version } = standInDistribution;
  await cp(join(standIns, version), join(folder, version), { recursive: true });
  await mkdir(join(folder, FORMER_RELEASE));
  const names = readdirSync(join(folder, version)).filter((name) => name !== CHECKSUMS);
  const files = names.map((name) => ({ name, text: formerText(readFileSync(join(folder, version, name), 'utf8')) }));
  for (const { name, text } of [...files, { name: CHECKSUMS, text: checksumText(files) }]) {
    writeFileSync(join(folder, FORMER_RELEASE, name), text);
  }
  return folder;
}

function formerText(text: string): string {
  const objects = parseAllDocuments(text).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);
  return objects.map((object) => stringify(formerObject(object))).join('---\n');
}

interface Versions {
  names: { kind: string };
  versions: { name: string; storage: boolean }[];
}

function formerObject(object: KubeObject): KubeObject {
  const spec = object.spec as Versions | undefined;
  const names = object.kind === 'CustomResourceDefinition' ? formerVersions[spec?.names.kind ?? ''] : undefined;
  if (names === undefined) return object;
  const versions = names.map((name, index) => ({ ...spec?.versions[0], name, storage: index === 0 }));
  return { ...object, spec: { ...spec, versions } };
}
