import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Origins } from '../origins.ts';
import { asObject, asString, type JsonObject } from '../values.ts';
import { insecureIssues, readerProxyIssues, urlIssue } from './judge.ts';
import type { Policy } from './policy.ts';

/** An object of the effective configuration, by its path there. */
interface Judged {
  policy: Policy;
  spec: JsonObject;
  path: string;
  origins: Origins;
  /** The objects that the configuration has, which a chart names. */
  objects: readonly KubeObject[];
  namespace: string;
}

/** Returns what a policy refuses in the objects besides the root pair. */
export function objectIssues(
  policy: Policy,
  objects: readonly KubeObject[],
  root: KubeObject | undefined,
  origins: Origins,
): ConfigIssue[] {
  return objects.flatMap(({ kind, spec, metadata }, index) => {
    const judge = judges[kind];
    if (judge === undefined) return [];
    const judged = {
      ...{ policy, origins, path: `objects[${index}]`, spec: asObject(spec) ?? {} },
      objects: root === undefined ? objects : [root, ...objects],
      namespace: metadata.namespace ?? '',
    };
    return [...judge(judged), ...insecureIssues(policy, kind, judged.spec, origins, judged.path)];
  });
}

const none = () => [];

/** What a kind may read from elsewhere. Kinds that are missing here read only what other objects name. */
const judges: Readonly<Record<string, (judged: Judged) => ConfigIssue[]>> = {
  GitRepository: (judged) => source('GitRepository', judged),
  OCIRepository: (judged) => source('OCIRepository', judged),
  Bucket: (judged) => source('Bucket', judged),
  HelmRepository: (judged) => source('HelmRepository', judged),
  HelmChart: (judged) => chartIssues(judged, judged.spec, 'spec'),
  HelmRelease: (judged) => chartIssues(judged, asObject(asObject(judged.spec.chart)?.spec) ?? {}, 'spec.chart.spec'),
  ImageRepository: none,
  Provider: none,
};

function source(kind: string, { policy, spec, origins, path }: Judged): ConfigIssue[] {
  return [...urlIssue(policy, kind, spec, origins, path), ...readerProxyIssues(policy, spec, origins, path)];
}

/** In a registry, the name of a chart is the end of the URL, and may lead away from the repository. */
function chartIssues(judged: Judged, chart: JsonObject, field: string): ConfigIssue[] {
  const { policy, origins, path, objects, namespace } = judged;
  const { kind, name, namespace: other } = asObject(chart.sourceRef) ?? {};
  if (policy.allowedRepositoryUrls === undefined || kind !== 'HelmRepository') return [];
  const repository = objects.find(
    (object) =>
      object.kind === kind &&
      object.metadata.name === name &&
      object.metadata.namespace === (asString(other) ?? namespace),
  );
  const url = asString(asObject(repository?.spec)?.url) ?? '';
  if (!url.startsWith('oci://')) return [];
  const whole = `${url.replace(/\/$/, '')}/${asString(chart.chart) ?? ''}`;
  return urlIssue(policy, kind, { url: whole }, origins, path, `${field}.chart`);
}
