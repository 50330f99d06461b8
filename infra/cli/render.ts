import { stringify } from 'yaml';
import { documentsOf } from '../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG } from '../../shared/config/project-config.ts';
import { asObject } from '../../shared/config/values.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { command, exitCodes } from './command.ts';
import { diffObjects, diffText } from './diff.ts';
import { type CliInputs, inputNotes, inputOptions, readInputs } from './inputs.ts';
import { addonKey, type Offline, releaseOf, renderOffline, upgradeWarnings } from './offline.ts';
import { type Terminal, text } from './option.ts';
import { itemsOf, readDocuments } from './read-file.ts';

/** Annotations with this prefix instruct the resource-manager; they say nothing about the shoot. */
const DELIVERY = 'resources.gardener.cloud/';

export default command({
  name: 'render',
  summary: 'Print the objects for a shoot as YAML, in the order of their delivery.',
  options: {
    ...inputOptions,
    diff: text(
      'FILE',
      'What render has written before a change: print only what the change would do to the objects. Copied Secrets are not compared.',
    ),
    json: { type: 'boolean', description: 'Print a JSON List instead.' },
  },
  notes:
    `${inputNotes}\nSecrets that are copied into the shoot appear only as comments, because their content is known only in the cluster.\n` +
    'Annotations for the resource-manager are omitted. A comment names the addon that brings an object, and where it is listed.',
  async run(values, _, terminal) {
    const inputs = await readInputs(values, terminal, values.diff);
    const former = values.diff === undefined ? undefined : await readFormer(values.diff, terminal);
    const rendered = await renderOffline(inputs);
    if (former !== undefined) {
      const next = Object.values(rendered.groups).flat().map(plain);
      const changes = diffObjects(former, next);
      terminal.out(values.json ? `${JSON.stringify(changes, null, 2)}\n` : diffText(changes, next.length));
      if (!values.json && changes.length > 0) terminal.out(rolloutText(inputs));
      warn([...rendered.warnings, ...upgradeWarnings(releaseOf(former), rendered)], terminal);
      return exitCodes.success;
    }
    if (values.json) printJson(rendered, terminal);
    else {
      terminal.out(rolloutText(inputs).replace(/^(?=.)/m, '# '));
      printYaml(rendered, terminal);
    }
    warn(rendered.warnings, terminal);
    return exitCodes.success;
  },
});

/** How the project has asked for its edits to arrive; empty where it has not. */
export function rolloutText({ config }: CliInputs): string {
  const rollout = config.fluxConfig && documentsOf(config.fluxConfig).rollout.value;
  if (rollout === undefined) return '';
  const { maxInProgress, maxFailed, order, maintenanceWindow } = rollout;
  const inOrder = order === undefined ? '' : `, in the order of their label ${order}`;
  const inWindow = maintenanceWindow === true ? ', in its maintenance window' : '';
  return `An edit of flux-config reaches at most ${maxInProgress} of the Shoots at a time${inOrder}${inWindow}, and pauses when more than ${maxFailed} are not Ready.\n`;
}

function warn(warnings: string[], terminal: Terminal): void {
  for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
}

function printYaml({ groups, unknown, ofAddons }: Offline, terminal: Terminal): void {
  const comments = unknown.map((sentence) => `# ${sentence}\n`).join('');
  for (const [group, objects] of Object.entries(groups)) {
    terminal.out(`# ManagedResource shoot-flux-${group}\n${group === 'secrets' ? comments : ''}`);
    for (const object of objects) {
      const addon = ofAddons.get(addonKey(object));
      terminal.out(`---\n${addon === undefined ? '' : `# ${addon}\n`}${yaml(plain(object))}`);
    }
  }
}

function printJson({ groups, unknown }: Offline, terminal: Terminal): void {
  const items = Object.values(groups).flat().map(plain);
  terminal.out(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`);
  for (const sentence of unknown) terminal.err(`not shown: ${sentence}\n`);
}

/** Returns an object as the shoot gets it. */
export function plain(object: KubeObject): KubeObject {
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

/** Reads the objects that an earlier `render` has written, as YAML or JSON. */
async function readFormer(path: string, terminal: Terminal): Promise<KubeObject[]> {
  const objects = (await readDocuments(path, terminal)).flatMap(itemsOf);
  if (!objects.every(isObject)) {
    throw new ShootFluxError(`${path} holds something other than objects; pass what render has written before.`);
  }
  const input = objects.find(isInput);
  if (input !== undefined) {
    throw new ShootFluxError(
      `${path} holds the ${input.kind} ${input.metadata.name}, which is an input of render; run render with it first, and pass what that has written.`,
    );
  }
  return objects;
}

function isObject(value: unknown): value is KubeObject {
  const { apiVersion, kind, metadata } = asObject(value) ?? {};
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof asObject(metadata)?.name === 'string';
}

/** An input would look as if it were to be removed, and every object as if it were new. */
function isInput({ kind, metadata }: KubeObject): boolean {
  return ['Shoot', 'FluxConfig'].includes(kind) || (kind === 'ConfigMap' && metadata.name === FLUX_CONFIG);
}
