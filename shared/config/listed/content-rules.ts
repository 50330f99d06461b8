import type { ConfigIssue } from '../../errors.ts';
import { type Check, gitUrl, isSsh } from '../checks.ts';
import { issueAt, type Place } from '../place.ts';
import { kustomizationSpecIssues } from '../template-rules.ts';
import { asObject, asString, type JsonObject } from '../values.ts';
import { unlessVariables } from '../variables.ts';

/**
 * Returns what is wrong with a manifest although the schema of its kind accepts it, as in `sources` and `kustomizations`:
 * Flux would refuse it in the shoot, or everybody could read its credentials.
 */
export function contentIssues({ kind, spec: given }: JsonObject, place: Place): ConfigIssue[] {
  const spec = asObject(given) ?? {};
  if (kind === 'Kustomization') return kustomizationSpecIssues(spec, place);
  return kind === 'GitRepository' ? gitIssues(spec, place) : [];
}

const wrongUrl: Check = unlessVariables(gitUrl);

function gitIssues({ url: given, secretRef }: JsonObject, place: Place): ConfigIssue[] {
  const url = asString(given);
  // The schema of the release says which other values are wrong.
  if (url === undefined) return [];
  const problem = wrongUrl(url);
  if (problem !== undefined) return [issueAt(place, 'spec.url', problem)];
  return isSsh(url) && secretRef === undefined
    ? [
        issueAt(
          place,
          'spec.secretRef',
          'is missing, but Flux needs a key to read over SSH; name the Secret that holds identity and known_hosts',
        ),
      ]
    : [];
}
