import { stringify } from 'yaml';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { command, exitCodes } from './command.ts';
import { diffObjects, diffText } from './diff.ts';
import { readFormer } from './former.ts';
import { inputNotes, inputOptions, readInputs } from './inputs.ts';
import { type Offline, renderOffline } from './offline.ts';
import type { Terminal } from './option.ts';
import { releaseOf, upgradeWarnings } from './upgrade-warnings.ts';

/** Annotations with this prefix instruct the resource-manager; they say nothing about the shoot. */
const DELIVERY = 'resources.gardener.cloud/';

export default command({
  name: 'render',
  summary: 'Print the objects for a shoot as YAML, in the order of their delivery.',
  options: {
    ...inputOptions,
    diff: {
      type: 'string',
      value: 'FILE',
      description: 'What render has written before a change: print only what the change would do to the objects.',
    },
    json: { type: 'boolean', description: 'Print a JSON List instead.' },
  },
  notes:
    `${inputNotes}\nSecrets that are copied into the shoot appear only as comments, because their content is known only in the cluster.\n` +
    'Annotations for the resource-manager are omitted.',
  async run(values, _, terminal) {
    const former = values.diff === undefined ? undefined : await readFormer(values.diff, terminal);
    const rendered = await renderOffline(await readInputs(values, terminal));
    if (former !== undefined) {
      const next = Object.values(rendered.groups).flat().map(plain);
      const changes = diffObjects(former, next);
      terminal.out(values.json ? `${JSON.stringify(changes, null, 2)}\n` : diffText(changes, next.length));
      warn(upgradeWarnings(releaseOf(former), rendered), terminal);
      return exitCodes.success;
    }
    if (values.json) printJson(rendered, terminal);
    else printYaml(rendered, terminal);
    warn(rendered.warnings, terminal);
    return exitCodes.success;
  },
});

function warn(warnings: string[], terminal: Terminal): void {
  for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
}

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
  const visible = Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith(DELIVERY));
  return {
    ...object,
    metadata: { ...metadata, ...(visible.length > 0 && { annotations: Object.fromEntries(visible) }) },
  };
}

/** Quotes values that YAML 1.1 readers such as kubectl would read differently. */
function yaml(object: KubeObject): string {
  return stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
