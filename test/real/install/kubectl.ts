import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { requestJson } from '../cluster/request.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';
import { applyObjects, deleteObjects, listObjects, serviceAccountToken } from './objects.ts';

/** The part of kubectl that the pages of the installations use, for machines without it. Anything else is an error. */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    namespace: { type: 'string' },
    duration: { type: 'string' },
    'from-file': { type: 'string' },
    'dry-run': { type: 'string' },
    'all-namespaces': { type: 'boolean' },
    'server-side': { type: 'boolean' },
    filename: { type: 'string', short: 'f' },
    kustomize: { type: 'string', short: 'k' },
    output: { type: 'string', short: 'o' },
    raw: { type: 'string' },
    selector: { type: 'string' },
  },
});
const { kubeconfig = process.env.KUBECONFIG ?? '', namespace, 'dry-run': dryRun, ...others } = values;
const { clusters, users } = parse(await readFile(kubeconfig, 'utf8'));
const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
const server = { url: clusters[0].cluster.server, ca, adminToken: users[0].user.token };
const [name = '', ...more] = positionals.splice(positionals[1] === 'secret' ? 3 : 2);

const command = [...positionals, ...Object.keys(others).toSorted()].join(' ');
if (more.length > 0) refuse();
else if (command === 'create namespace') await applyObjects(server, [namespaceOf(name)]);
else if (command === 'create token duration') process.stdout.write(await token());
else if (command === 'create secret generic from-file output') process.stdout.write(stringify(await secret()));
else if (command === 'get raw')
  process.stdout.write(`${JSON.stringify(await requestJson(server, 'GET', others.raw ?? ''))}\n`);
else if (/^get [a-z,]+( all-namespaces)?( selector)?$/.test(command)) process.stdout.write(await rows());
else if (/^apply (filename|kustomize)( server-side)?$/.test(command)) {
  await applyObjects(server, await objects(), dryRun === 'server');
} else if (/^delete (filename|kustomize)$/.test(command)) await deleteObjects(server, await objects());
else if (command === 'delete serviceaccounts all-namespaces selector') await deleteObjects(server, await accounts());
else refuse();

function refuse(): never {
  throw new Error(`kubectl ${process.argv.slice(2).join(' ')} is not understood`);
}

function namespaceOf(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** One line for each object, with its condition Ready. */
async function rows(): Promise<string> {
  const kinds = positionals[1]?.split(',') ?? [];
  const found = await Promise.all(kinds.map((kind) => listObjects(server, kind, namespace, others.selector)));
  return found.flat().map(row).join('');
}

function row({ metadata, status }: KubeObject): string {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  const ready = conditions.find(({ type }) => type === 'Ready')?.status ?? '';
  return `${metadata.namespace ?? ''}   ${metadata.name}   ${ready}\n`;
}

/** The objects of a list do not say their kind. */
async function accounts(): Promise<KubeObject[]> {
  const found = await listObjects(server, 'serviceaccounts', undefined, others.selector);
  return found.map((account) => ({ ...account, apiVersion: 'v1', kind: 'ServiceAccount' }));
}

async function token(): Promise<string> {
  const [, hours] = /^(\d+)h$/.exec(others.duration ?? '') ?? refuse();
  return serviceAccountToken(server, namespace ?? refuse(), name, { expirationSeconds: Number(hours) * 3600 });
}

async function secret(): Promise<KubeObject> {
  if (dryRun !== 'client' || others.output !== 'yaml') refuse();
  const folder = others['from-file'] ?? refuse();
  const keys = await readdir(folder);
  const data = await Promise.all(keys.map(async (key) => [key, await readFile(join(folder, key), 'base64')]));
  const metadata = { name, namespace: namespace ?? refuse() };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(data) };
}

async function objects(): Promise<KubeObject[]> {
  const documents = parseAllDocuments(await source()).map((document) => document.toJS() as KubeObject | null);
  return documents.filter((object) => object !== null).map(inNamespace);
}

/** Like kubectl, whose option counts for objects that name no namespace. */
function inNamespace(object: KubeObject): KubeObject {
  if (namespace === undefined || object.kind === 'Namespace') return object;
  return { ...object, metadata: { namespace, ...object.metadata } };
}

async function source(): Promise<string> {
  const { filename, kustomize } = others;
  if (kustomize !== undefined) return runProgram((await buildTools(['kustomize'])).kustomize, ['build', kustomize]);
  return filename === '-' ? text(process.stdin) : readFile(filename ?? '', 'utf8');
}
