import type { ConfigIssue } from '../../errors.ts';
import { inside, issueAt, type Place } from '../place.ts';
import { quote } from '../quote.ts';
import { asObject, asString } from '../values.ts';

/**
 * Fields of pre-releases that newer APIs dropped without a replacement, because the behaviour no longer has a choice. Fields
 * with a replacement stay errors: leaving them out would change what is deployed.
 */
const dropped: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Kustomization: { validation: 'every object is validated by the API server' },
  GitRepository: { gitImplementation: 'there is only one implementation' },
};

const PRE_RELEASE = /\/v[0-9]+(alpha|beta)[0-9]+$/;

/**
 * Returns a template without the fields that its API has dropped since. Only a template that is written for a pre-release
 * may have them.
 * @param place where the template is
 */
export function withoutDroppedFields(
  template: unknown,
  kind: string,
  place: Place,
): { template: unknown; warnings: ConfigIssue[] } {
  const object = asObject(template);
  const spec = asObject(object?.spec);
  const apiVersion = asString(object?.apiVersion) ?? '';
  const fields = dropped[kind] ?? {};
  const found = Object.keys(fields).filter((field) => spec !== undefined && Object.hasOwn(spec, field));
  if (spec === undefined || found.length === 0 || !PRE_RELEASE.test(apiVersion)) return { template, warnings: [] };
  const kept = Object.fromEntries(Object.entries(spec).filter(([field]) => !found.includes(field)));
  const warnings = found.map((field) =>
    issueAt(
      inside(place, 'spec'),
      field,
      `is left out, because the API has dropped it since ${quote(apiVersion)}: ${fields[field]}; remove it`,
    ),
  );
  return { template: { ...object, spec: kept }, warnings };
}
