import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { gardenCrdFiles } from '@shoot-flux/landscape/crds';
import { testData } from '@shoot-flux/landscape/test-data';
import { parseAllDocuments } from 'yaml';
import { isEstablished } from '../../established.ts';
import type { ApiServer } from './api-server.ts';
import { requestJson } from './request.ts';
import { answersOk } from './start.ts';

const pollEveryMilliseconds = 30;
const timeoutSeconds = 30;

type Crd = V1CustomResourceDefinition & { metadata: { name: string } };

/** Stand-ins for the resources that gardener-apiserver serves in a garden. */
export const gardenCrds = gardenCrdFiles;

/** Gardener's CRDs of a seed (Extension, Cluster, ManagedResource); undefined where the test data does not have them. */
export function seedCrds(): string[] | undefined {
  const files = [
    'extensions.gardener.cloud_clusters',
    'extensions.gardener.cloud_extensions',
    'resources.gardener.cloud_managedresources',
  ];
  const paths = files.map((file) => testData('gardener', `10-crd-${file}.yaml`));
  return paths.every((path) => path !== undefined) ? paths : undefined;
}

/**
 * Applies the CRDs in these files and waits until the server serves them. Skips other objects, so a file of a Flux
 * release can be used.
 */
export async function installCrds(server: ApiServer, files: readonly string[]): Promise<void> {
  const crds = (await Promise.all(files.map(readCrds))).flat();
  await Promise.all(
    crds.map(async (crd) => {
      const { name } = crd.metadata;
      // Sent exactly as in the file: client-node would drop x-kubernetes-preserve-unknown-fields, enum and default, whose names its typed objects change.
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
      await requestJson(server, 'PATCH', `${path}?fieldManager=installCrds&force=true`, crd);
      await waitUntil(`CustomResourceDefinition ${name}`, async () =>
        isEstablished(await requestJson(server, 'GET', path)),
      );
      // The handler for custom resources learns of an established CRD a moment later.
      for (const url of servedLists(server, crd)) {
        await waitUntil(url, () => answersOk(url, { ca: server.ca, token: server.adminToken }));
      }
    }),
  );
}

async function readCrds(file: string): Promise<Crd[]> {
  const documents = parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS());
  return documents.filter((object) => object?.kind === 'CustomResourceDefinition');
}

function servedLists(server: ApiServer, { spec }: Crd): string[] {
  const served = spec.versions.filter((version) => version.served);
  return served.map(({ name }) => `${server.url}/apis/${spec.group}/${name}/${spec.names.plural}?limit=1`);
}

async function waitUntil(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`${what} is not served after ${timeoutSeconds} s.`);
    await sleep(pollEveryMilliseconds);
  }
}
