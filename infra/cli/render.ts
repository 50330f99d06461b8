import { stringify } from 'yaml';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { command, exitCodes, type Terminal } from './command.ts';
import { inputNotes, inputOptions, readInputs } from './inputs.ts';
import { type Offline, renderOffline } from './offline.ts';

/** What tells the resource-manager how to treat an object says nothing about the shoot. */
const DELIVERY = 'resources.gardener.cloud/';

export default command({
  name: 'render',
  summary: 'Print the objects for a shoot as YAML, in the order in which they are delivered.',
  options: { ...inputOptions, json: { type: 'boolean', description: 'Print one JSON List instead.' } },
  notes:
    `${inputNotes}\nSecrets that are copied into the shoot are named in a comment, because their content is not known ` +
    'here.\nThe annotations for the resource-manager are left out.',
  async run(values, _, terminal) {
    const rendered = await renderOffline(await readInputs(values, terminal));
    if (values.json) printJson(rendered, terminal);
    else printYaml(rendered, terminal);
    return exitCodes.good;
  },
});

function printYaml({ groups, unknown }: Offline, terminal: Terminal): void {
  const comments = unknown.map((sentence) => `# ${sentence}\n`).join('');
  for (const [group, objects] of Object.entries(groups)) {
    terminal.out(`# ManagedResource shoot-flux-${group}\n${group === 'secrets' ? comments : ''}`);
    for (const object of objects) terminal.out(`---\n${yaml(plain(object))}`);
  }
}

function printJson({ groups, unknown }: Offline, terminal: Terminal): void {
  const items = Object.values(groups).flat().map(plain);
  terminal.out(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`);
  for (const sentence of unknown) terminal.err(`not shown: ${sentence}\n`);
}

function plain(object: KubeObject): KubeObject {
  const { annotations, ...metadata } = object.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith(DELIVERY));
  return { ...object, metadata: { ...metadata, ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) } };
}

/** Quoted so that readers of YAML 1.1, such as kubectl, read the same. */
function yaml(object: KubeObject): string {
  return stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
