import { parseArgs } from 'node:util';
import { helmReleases } from '@shoot-flux/landscape/flux/objects';
import { stringify } from 'yaml';
import { kubeconfigFile } from '../../shared/kube/kubeconfig.ts';
import { apiVersionOf, type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { patientClient } from '../patient-client.ts';

/** The part of kubectl that the documents use, for machines without it. Anything else is an error. */

const kinds: Record<string, Resource> = {
  configmap: resources.configMaps,
  customresourcedefinitions: resources.customResourceDefinitions,
  extension: resources.extensions,
  helmreleases: helmReleases,
  secret: resources.secrets,
  shoot: resources.shoots,
  events: resources.events,
};
/** What a verb changes of the metadata. */
const written: Record<string, string> = { annotate: 'annotations', label: 'labels' };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    namespace: { type: 'string', short: 'n' },
    output: { type: 'string', short: 'o' },
    patch: { type: 'string', short: 'p' },
    type: { type: 'string' },
    overwrite: { type: 'boolean' },
    'field-selector': { type: 'string' },
    selector: { type: 'string', short: 'l' },
    all: { type: 'boolean' },
    'all-namespaces': { type: 'boolean' },
  },
});
const [verb, kind = '', ...rest] = positionals;
const client = patientClient(await kubeconfigFile(values.kubeconfig ?? process.env.KUBECONFIG ?? ''));
try {
  process.stdout.write(await answer(kinds[kind] ?? fail(`there is no kind ${kind}`)));
} finally {
  client.close();
}

async function answer(resource: Resource): Promise<string> {
  const { namespace = '', output = '', patch = '', type = '', 'field-selector': fieldSelector } = values;
  if (verb === 'get' && fieldSelector !== undefined && rest.length === 0) {
    const { items } = await client.list(resource, { namespace, fieldSelector });
    return items.map(({ type, reason, message }) => `${type}   ${reason}   ${message}\n`).join('');
  }
  if (verb === 'delete' && rest.length === 0) return deleteAll(resource);
  if (verb === 'delete') {
    const [name = '', ...others] = rest;
    if (others.length > 0 || !(await client.delete(resource, { namespace, name }))) fail(`${kind} "${name}" not found`);
    return `${kind} "${name}" deleted\n`;
  }
  if (verb === 'create') {
    return create(resource, namespace, kind === 'secret' && rest[0] === 'generic' ? rest.slice(1) : rest);
  }
  const [name = fail('a name is missing'), ...assignments] = rest;
  const live = (await client.find(resource, { namespace, name })) ?? fail(`${kind} "${name}" not found`);
  const field = written[verb ?? ''];
  if (field !== undefined) {
    const before = (live.metadata as unknown as Record<string, Record<string, string> | undefined>)[field];
    const changes = assignments.map((text) => /^([^=]+)=(.+)$/.exec(text)?.slice(1) ?? notUnderstood());
    const kept = changes.find(([key = '']) => values.overwrite !== true && before?.[key] !== undefined);
    if (kept !== undefined) fail(`--overwrite is false but found ${kept[0]}`);
    const metadata = { [field]: Object.fromEntries(changes) };
    await client.mergePatch(resource, { namespace, name }, { metadata }, { fieldManager: `kubectl-${verb}` });
    return `${kind}/${name} changed\n`;
  }
  if (assignments.length > 0) notUnderstood();
  if (verb === 'get') return output === 'yaml' ? stringify(live) : valueAt(live, output);
  if (verb !== 'patch' || type !== 'merge') notUnderstood();
  await client.mergePatch(resource, { namespace, name }, JSON.parse(patch), { fieldManager: 'kubectl' });
  return `${kind}/${name} patched\n`;
}

/** Creates an empty object. */
async function create(resource: Resource, namespace: string, [name = '', ...more]: string[]): Promise<string> {
  if (name === '' || more.length > 0) notUnderstood();
  const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { namespace, name } };
  await client.create(resource, object, { fieldManager: 'kubectl-create' });
  return `${kind}/${name} created\n`;
}

/** Deletes all objects of a kind, or those with a label. */
async function deleteAll(resource: Resource): Promise<string> {
  const { selector: labelSelector, all = false, 'all-namespaces': isEverywhere = false } = values;
  if (all === (labelSelector !== undefined) || isEverywhere !== resource.namespaced) notUnderstood();
  const { items } = await client.list(resource, { labelSelector });
  for (const { metadata } of items) await client.delete(resource, metadata);
  return items.map(({ metadata }) => `${kind} "${metadata.name}" deleted\n`).join('');
}

/** Evaluates one path of a JSONPath template, with dots escaped and `[*]` as in kubectl. Absent fields are empty. */
function valueAt(object: KubeObject, output: string): string {
  const [, path = fail(`-o ${output} is not understood`)] = /^jsonpath=\{\.(.+)\}$/.exec(output) ?? [];
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  const found = names.reduce<unknown[]>(
    (values, name) => values.flatMap((at) => (at as Record<string, unknown> | undefined)?.[name.replace('[*]', '')]),
    [object],
  );
  return found.filter((value) => typeof value === 'string').join(' ');
}

function notUnderstood(): never {
  fail(`${process.argv.slice(2).join(' ')} is not understood`);
}

function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}
