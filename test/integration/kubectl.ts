import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigFile } from '../../shared/kube/kubeconfig.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';

/** The part of kubectl that the documents use, for machines without it. Anything else is an error. */

const kinds: Record<string, Resource> = {
  configmap: resources.configMaps,
  extension: resources.extensions,
  secret: resources.secrets,
  shoot: resources.shoots,
  events: resources.events,
};
const writer = { fieldManager: 'kubectl' };

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
  },
});
const [verb, kind = '', ...rest] = positionals;
const client = createKubeClient(await kubeconfigFile(values.kubeconfig ?? process.env.KUBECONFIG ?? ''));
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
  const [name = fail('a name is missing'), annotation, ...more] = rest;
  if (more.length > 0 && verb !== 'annotate') fail(`${more.join(' ')} is not understood`);
  const live = (await client.find(resource, { namespace, name })) ?? fail(`${kind} "${name}" not found`);
  if (verb === 'get' && annotation === undefined) return output === 'yaml' ? stringify(live) : field(live, output);
  if (verb === 'patch' && type === 'merge' && annotation === undefined) {
    await client.mergePatch(resource, { namespace, name }, JSON.parse(patch), writer);
    return `${kind}/${name} patched\n`;
  }
  const annotations: Record<string, string> = {};
  for (const written of [annotation ?? '', ...more]) {
    const [, key, value] = /^([^=]+)=(.+)$/.exec(written) ?? [];
    if (verb !== 'annotate' || key === undefined) fail(`${process.argv.slice(2).join(' ')} is not understood`);
    if (values.overwrite !== true && live.metadata.annotations?.[key] !== undefined) {
      fail(`--overwrite is false but found ${key}`);
    }
    annotations[key] = value ?? '';
  }
  await client.mergePatch(resource, { namespace, name }, { metadata: { annotations } }, writer);
  return `${kind}/${name} annotated\n`;
}

/** Evaluates one path of a JSONPath template, with dots escaped as in kubectl. Absent fields are empty. */
function field(object: KubeObject, output: string): string {
  const [, path = fail(`-o ${output} is not understood`)] = /^jsonpath=\{\.(.+)\}$/.exec(output) ?? [];
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  const value = names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], object);
  return typeof value === 'string' ? value : '';
}

function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(1);
}
