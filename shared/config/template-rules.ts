import type { ConfigIssue } from '../errors.ts';
import { isSsh } from './checks.ts';
import { isFluxConfigObject } from './flux-config-map.ts';
import { MOST_ISSUES_OF_A_PART } from './limits.ts';
import { nearest } from './nearest.ts';
import { issueAt, type Place } from './origins.ts';
import { FLUX_REGISTRY, FLUX_SOURCE } from './project-config.ts';
import { quote, shown } from './quote.ts';
import { lengthProblem, pathText, unknownKey } from './schema.ts';
import type { SourceKind } from './templates.ts';
import { asObject, asString, type JsonObject } from './values.ts';
import { revisions } from './variables.ts';

/** Reports an issue with a field by its path below the part that is checked. */
type Report = (path: string, message: string) => ConfigIssue;

const reportAt =
  (part: Place): Report =>
  (path, message) =>
    issueAt(part, path, message);

/**
 * Returns the issues that concern several fields of a source of this kind.
 * @param part where the source is, such as `source`
 * @param isListed true: it is an entry of `sources`, which may name a Secret that is delivered in another way
 */
export function sourceIssues(
  source: JsonObject,
  template: JsonObject,
  kind: SourceKind,
  part: Place,
  isListed = false,
): ConfigIssue[] {
  const issue = reportAt(part);
  const spec = asObject(template.spec) ?? {};
  return [
    ...revisionIssues(spec, kind, issue),
    ...credentialsIssues(source, spec, part, isListed),
    ...identityIssues(spec, kind, issue),
    ...tokenServiceIssues(spec, kind, issue),
    ...endpointIssues(spec, kind, issue),
  ];
}

function revisionIssues({ ref: given }: JsonObject, kind: SourceKind, issue: Report): ConfigIssue[] {
  const ref = asObject(given);
  const known = Object.keys(revisions[kind]);
  if (ref === undefined || known.some((revision) => ref[revision] !== undefined)) return [];
  const [meant] = Object.keys(ref).flatMap((name) => ({ name, word: nearest(name, known) }));
  return meant?.word === undefined
    ? [issue('template.spec.ref', `specifies no revision; set one of ${known.join(', ')}`)]
    : [issue(pathText(['template', 'spec', 'ref', meant.name]), unknownKey(meant.name, known))];
}

function credentialsIssues(source: JsonObject, spec: JsonObject, part: Place, isListed: boolean): ConfigIssue[] {
  const issue = reportAt(part);
  const issues: ConfigIssue[] = [];
  const secretName = asString(asObject(spec.secretRef)?.name);
  // The project has this Secret, or the merge reports that it has none.
  const isOfProject = secretName === FLUX_REGISTRY || (secretName === FLUX_SOURCE && isFluxConfigObject(part.object));
  if (secretName !== undefined && source.secretResourceName === undefined && !isListed && !isOfProject) {
    issues.push(
      issue(
        'secretResourceName',
        "is missing, but source.template.spec.secretRef is set; name the entry of the Shoot's spec.resources that holds the credentials",
      ),
    );
  }
  if (asObject(spec.secretRef) !== undefined && secretName === undefined) {
    issues.push(issue('template.spec.secretRef.name', 'is missing; set it to the name of the Secret in the shoot'));
  }
  if (isSsh(asString(spec.url) ?? '') && spec.secretRef === undefined) {
    issues.push(
      issue(
        'secretResourceName',
        "is missing, but Flux needs a key to read over SSH; name the entry of the Shoot's spec.resources that holds identity and known_hosts",
      ),
    );
  }
  return issues;
}

/** Only cloud providers use the identity of a ServiceAccount; the CRDs have the same rule in CEL. */
function identityIssues(spec: JsonObject, kind: SourceKind, issue: Report): ConfigIssue[] {
  if (spec.serviceAccountName === undefined) return [];
  const path = 'template.spec.serviceAccountName';
  const provider = asString(spec.provider) ?? 'generic';
  const isUnused: Record<SourceKind, boolean> = {
    GitRepository: provider !== 'azure' && provider !== 'aws',
    OCIRepository: false,
    Bucket: provider === 'generic',
  };
  const isSecond = kind === 'Bucket' && spec.secretRef !== undefined;
  return [
    ...(isSecond ? [issue(path, 'cannot be combined with secretRef; remove one of them')] : []),
    ...(isUnused[kind] ? [issue(path, `is not supported with provider ${shown(provider)}; remove it`)] : []),
  ];
}

const tokenServices = new Map([
  ['aws', 'aws'],
  ['generic', 'ldap'],
]);

/** Checks the token service of a Bucket; its CRD has the same rule in CEL. */
function tokenServiceIssues(spec: JsonObject, kind: SourceKind, issue: Report): ConfigIssue[] {
  const service = asObject(spec.sts);
  if (kind !== 'Bucket' || service === undefined) return [];
  const path = 'template.spec.sts';
  const provider = asString(spec.provider) ?? 'generic';
  const possible = tokenServices.get(provider);
  if (possible === undefined) return [issue(path, `is not supported with provider ${shown(provider)}; remove it`)];
  if (service.provider !== possible) {
    return [issue(`${path}.provider`, `must be ${possible}, because spec.provider is ${provider}`)];
  }
  const unsupported =
    possible === 'aws' ? ['secretRef', 'certSecretRef'].filter((ref) => service[ref] !== undefined) : [];
  return unsupported.map((ref) => issue(`${path}.${ref}`, 'is not supported with provider aws; remove it'));
}

/** Flux reads a URL for Azure, host and port for S3, and nothing for Google. */
function endpointIssues(spec: JsonObject, kind: SourceKind, issue: Report): ConfigIssue[] {
  const endpoint = asString(spec.endpoint);
  if (kind !== 'Bucket' || endpoint === undefined || spec.provider === 'gcp') return [];
  const path = 'template.spec.endpoint';
  if (spec.provider === 'azure') {
    const remedy = 'use the URL of the account, for example https://account.blob.core.windows.net';
    return /^https?:\/\/./.test(endpoint) ? [] : [issue(path, `${quote(endpoint)} is not a URL; ${remedy}`)];
  }
  const remedy = 'use only host and port, for example s3.amazonaws.com';
  return endpoint.includes('://') ? [issue(path, `${quote(endpoint)} has a scheme; ${remedy}`)] : [];
}

const VARIABLE = /^[_a-zA-Z]\w*$/;

/**
 * Returns what the schema of a Kustomization accepts, and Flux does not.
 * @param place where the manifest is
 */
export function kustomizationIssues(spec: JsonObject, place: Place): ConfigIssue[] {
  const issue = reportAt(place);
  const variables = Object.keys(asObject(asObject(spec.postBuild)?.substitute) ?? {});
  const invalid = variables
    .filter((name) => lengthProblem(name) !== undefined || !VARIABLE.test(name))
    .slice(0, MOST_ISSUES_OF_A_PART)
    .map((name) =>
      issue(
        'spec.postBuild.substitute',
        `${quote(name)} is not a valid variable name; use letters, digits and '_', not starting with a digit`,
      ),
    );
  return [...invalid, ...kubeConfigIssues(spec, issue)];
}

function kubeConfigIssues(spec: JsonObject, issue: Report): ConfigIssue[] {
  const kubeConfig = asObject(spec.kubeConfig);
  if (kubeConfig === undefined) return [];
  const path = 'spec.kubeConfig';
  const count = [kubeConfig.secretRef, kubeConfig.configMapRef].filter((ref) => ref !== undefined).length;
  if (count === 0) return [issue(path, 'has neither secretRef nor configMapRef; set one of them')];
  return count > 1 ? [issue(path, 'has both secretRef and configMapRef; remove one of them')] : [];
}
