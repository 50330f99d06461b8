import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { objectName } from './checks.ts';
import { DEFAULTS } from './defaults.ts';
import { limits, MOST_ISSUES_OF_A_PART, sizeProblem } from './limits.ts';
import { readObjects } from './listed/read-objects.ts';
import { nearest } from './nearest.ts';
import { inside, issueAt, type Place } from './origins.ts';
import { providerConfigSchema } from './provider-config-schema.ts';
import { quote, useOneOf } from './quote.ts';
import { key, listUpTo, pathText, ruled, schemaIssues, text } from './schema.ts';
import type { ConfigInputs, ListedAddon, PlacedTemplate, Read } from './types.ts';
import { asObject, type JsonObject } from './values.ts';

const EVERY_VALUE = '*';

const valuePath = text((path) =>
  path === EVERY_VALUE || path.split('.').every((part) => part !== '')
    ? undefined
    : `${quote(path)} is not the path of a value; use keys with dots between, for example persistence.size, or * for all`,
);

/** An addon of the landscape's catalogue. */
export const addonSchema = z.strictObject({
  description: key(text(), { description: 'What it is for, in a few words.', example: 'TLS certificates' }),
  objects: providerConfigSchema.shape.objects,
  values: key(listUpTo(limits.list, valuePath), {
    description:
      'The values of its chart that projects may set, each with everything below it; `"*"` stands for all. The addon must have exactly one HelmRelease, which takes them.',
    default: 'none',
    example: 'persistence.size, resources',
  }),
  projects: key(
    ruled(listUpTo(limits.list, text()), ({ length }) =>
      length === 0 ? 'is empty, which would permit no project; add one, or remove the addon' : undefined,
    ),
    { description: 'The projects that may use it, by name.', default: 'all', example: 'my-project, another-project' },
  ),
});

/** What the operators of a landscape offer under one name. */
export type Addon = z.infer<typeof addonSchema>;

/** The name of a rule about addons; a refusal depends on the catalogue, as others depend on the policy. */
export const ADDON_RULE = 'addons';

/** Returns the place of an addon, for errors; `origins` has under its `object` where the addon is listed. */
export const addonPlace = (name: string): Place => ({ object: `addon ${name}`, path: '' });

/** True for the place of an object that an addon brings. */
export function isOfAddon({ object }: Place): boolean {
  return object.startsWith('addon ');
}

/** Returns what is wrong with each addon of a catalogue, apart from what its objects refer to. */
export function catalogueIssues(catalogue: unknown): ConfigIssue[] {
  const tooLarge = sizeProblem(catalogue);
  if (tooLarge !== undefined) return [{ object: "the landscape's catalogue of addons", path: '', message: tooLarge }];
  return Object.entries(asObject(catalogue) ?? {}).flatMap(([name, addon]) => {
    const problem = objectName(name);
    if (problem !== undefined) return [issueAt(addonPlace(name), '', problem)];
    const issues = schemaIssues(addonPlace(name), addonSchema, addon);
    return issues.length > 0 ? issues : contentIssues(name, addon as Addon);
  });
}

function contentIssues(name: string, addon: Addon): ConfigIssue[] {
  const { value: objects = [], issues } = objectsOf(name, addon);
  if (issues.length > 0) return issues;
  const rootless = objects.filter(({ template }) => template.kind === 'Kustomization' && !template.spec.sourceRef);
  const releases = objects.filter(isRelease).length;
  const takesValues = addon.values !== undefined && addon.values.length > 0;
  return [
    ...(objects.length === 0 ? [issueAt(addonPlace(name), 'objects', 'is missing; list what the addon brings')] : []),
    ...(takesValues && releases !== 1
      ? [issueAt(addonPlace(name), 'values', `needs one HelmRelease that takes them, but objects has ${releases}`)]
      : []),
    ...rootless.map(({ place }) =>
      issueAt(place, 'spec.sourceRef', 'is missing; name a source of the addon, which has no root source'),
    ),
  ];
}

const isRelease = ({ template }: PlacedTemplate) => template.kind === 'HelmRelease';

function objectsOf(name: string, { objects }: Addon): Read<PlacedTemplate[]> {
  return readObjects(objects, inside(addonPlace(name), 'objects'));
}

/** What the landscape says, and for which project. */
type Inputs = Pick<ConfigInputs, 'landscape' | 'shoot' | 'fluxConfig'>;

/** Returns the objects that the listed addons bring, and what the catalogue refuses. */
export function broughtByAddons(listed: readonly ListedAddon[], inputs: Inputs) {
  const brought = { value: [] as PlacedTemplate[], issues: [] as ConfigIssue[], warnings: [] as ConfigIssue[] };
  for (const [index, one] of listed.entries()) {
    const refuse = (path: string, message: string) =>
      brought.issues.push({ ...issueAt(one.place, path, message), rule: ADDON_RULE });
    if (inputs.landscape === undefined || inputs.landscape.addons === null) {
      const message = `${quote(one.name)} is an addon, and what it brings is not known here; pass the config file of the landscape with --config`;
      brought.warnings.push(issueAt(one.place, '', message));
      continue;
    }
    const catalogue = inputs.landscape.addons ?? {};
    const problem = nameProblem(one, catalogue, projectOf(inputs));
    const isRepeated = listed.slice(0, index).some(({ name }) => name === one.name);
    if (problem !== undefined) refuse('', problem);
    else if (isRepeated) refuse('', `${quote(one.name)} is listed twice; remove one of them`);
    else {
      const addon = catalogue[one.name] as Addon;
      for (const [path, message] of valueProblems(one, addon)) refuse(path, message);
      const objects = objectsOf(one.name, addon).value ?? [];
      brought.value.push(...objects.map((object) => (isRelease(object) ? withValues(object, one.values) : object)));
    }
  }
  return brought;
}

/** Absent where neither the Shoot nor the namespace of `flux-config` says it: its own runs judge it then. */
function projectOf({ shoot, fluxConfig }: Inputs): string | undefined {
  return shoot?.facts?.SHOOT_PROJECT ?? /^garden-(.+)$/.exec(fluxConfig?.namespace ?? '')?.[1];
}

/** Returns why a project cannot use an addon; what the operators list in their defaults is for everybody. */
function nameProblem(
  { name, place }: ListedAddon,
  catalogue: Readonly<Record<string, Addon>>,
  project: string | undefined,
): string | undefined {
  const names = Object.keys(catalogue);
  if (names.length === 0) return `${quote(name)} is not available, because this landscape has no addons; remove it`;
  const isOffered = ({ projects }: Addon) =>
    projects === undefined || project === undefined || projects.includes(project) || place.object === DEFAULTS;
  const offered = names.filter((one) => isOffered(catalogue[one] as Addon));
  const remedy = offered.length === 0 ? 'remove it' : `${useOneOf(offered)}, or remove it`;
  if (offered.includes(name)) return undefined;
  if (names.includes(name)) return `${quote(name)} is not allowed for project ${project} in this landscape; ${remedy}`;
  const meant = nearest(name, offered);
  const question = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `${quote(name)} is not an addon of this landscape${question}; ${remedy}`;
}

function valueProblems({ name, values }: ListedAddon, { values: allowed = [] }: Addon): [path: string, string][] {
  if (values === undefined || allowed.includes(EVERY_VALUE)) return [];
  const refused = leavesOf(values).filter((leaf) => !allowed.some((path) => isBelow(leaf, path.split('.'))));
  if (refused.length > 0 && allowed.length === 0)
    return [['values', `cannot be set, because the addon ${quote(name)} has none that projects may set; remove them`]];
  return refused
    .slice(0, MOST_ISSUES_OF_A_PART)
    .map((leaf) => [
      `values.${pathText(leaf)}`,
      `is not a value of ${quote(name)} that projects may set; ${useOneOf(allowed)}`,
    ]);
}

/** Returns the path of each value. An empty object is one, because it replaces what is no object. */
function leavesOf(values: unknown, above: readonly string[] = []): string[][] {
  const fields = Object.entries(asObject(values) ?? {});
  return fields.length === 0 && above.length > 0
    ? [[...above]]
    : fields.flatMap(([name, value]) => leavesOf(value, [...above, name]));
}

function isBelow(leaf: readonly string[], path: readonly string[]): boolean {
  return path.every((part, index) => leaf[index] === part);
}

function withValues({ template, ...rest }: PlacedTemplate, values: JsonObject | undefined): PlacedTemplate {
  if (values === undefined) return { template, ...rest };
  const { spec } = template;
  return { ...rest, template: { ...template, spec: { ...spec, values: mergedValues(spec.values, values) } } };
}

/** Merges the values of a chart as Helm does: objects field by field. Null stays, because it removes a default of the chart. */
function mergedValues(below: unknown, above: unknown): unknown {
  const [lower, upper] = [asObject(below), asObject(above)];
  if (lower === undefined || upper === undefined) return above;
  const merged = Object.entries(upper).map(([name, value]) => [
    name,
    Object.hasOwn(lower, name) ? mergedValues(lower[name], value) : value,
  ]);
  return { ...lower, ...Object.fromEntries(merged) };
}
