import type { KubeObject } from '../../kube/resource.ts';
import { asObject, asString, type JsonObject } from '../values.ts';

/** A field by which one object of Flux names another one. */
export interface Link {
  /** The path in the object, such as `spec.dependsOn[0]`. */
  path: string;
  kind: string;
  namespace: string;
  name: string;
  /** True: the object waits for the other one for ever. False: it only reports about it or triggers it. */
  isNeeded: boolean;
}

type Reference = Omit<Link, 'isNeeded' | 'namespace'> & { namespace?: string | undefined };

/** Returns the objects of Flux that an object names, with the namespaces that Flux would read. */
export function linksOf({ kind, metadata, spec }: KubeObject): Link[] {
  const fields = asObject(spec) ?? {};
  const own = metadata.namespace ?? '';
  const needed = (needs[kind]?.(fields) ?? []).map((link) => ({ ...link, isNeeded: true }));
  const loose = (reports[kind]?.(fields) ?? []).map((link) => ({ ...link, isNeeded: false }));
  return [...needed, ...loose]
    .filter(({ name }) => name !== '' && name !== '*')
    .map((link) => ({ ...link, namespace: link.namespace || own }));
}

type Reader = (spec: JsonObject) => Reference[];

const needs: Readonly<Record<string, Reader>> = {
  GitRepository: (spec) =>
    list(spec.include, 'spec.include').map(([entry, path]) =>
      at(entry.repository, `${path}.repository`, 'GitRepository'),
    ),
  HelmChart: (spec) => [at(spec.sourceRef, 'spec.sourceRef')],
  ArtifactGenerator: (spec) => list(spec.sources, 'spec.sources').map(([entry, path]) => at(entry, path)),
  Kustomization: (spec) => [at(spec.sourceRef, 'spec.sourceRef'), ...dependencies(spec, 'Kustomization')],
  HelmRelease: (spec) => [
    at(asObject(asObject(spec.chart)?.spec)?.sourceRef, 'spec.chart.spec.sourceRef'),
    at(spec.chartRef, 'spec.chartRef'),
    ...dependencies(spec, 'HelmRelease'),
  ],
  Alert: (spec) => [at(spec.providerRef, 'spec.providerRef', 'Provider')],
  ImagePolicy: (spec) => [at(spec.imageRepositoryRef, 'spec.imageRepositoryRef', 'ImageRepository')],
  ImageUpdateAutomation: (spec) => [at(spec.sourceRef, 'spec.sourceRef', 'GitRepository')],
};

const reports: Readonly<Record<string, Reader>> = {
  Alert: (spec) => list(spec.eventSources, 'spec.eventSources').map(([entry, path]) => at(entry, path)),
  Receiver: (spec) => list(spec.resources, 'spec.resources').map(([entry, path]) => at(entry, path)),
};

function dependencies(spec: JsonObject, kind: string): Reference[] {
  return list(spec.dependsOn, 'spec.dependsOn').map(([{ kind: _, ...entry }, path]) => at(entry, path, kind));
}

/** The CRDs check the form of a reference, so what is not a text counts as absent here. */
function at(value: unknown, path: string, kind = ''): Reference {
  const fields = asObject(value);
  const text = (name: string) => asString(fields?.[name]);
  return { path, kind: text('kind') ?? kind, namespace: text('namespace'), name: text('name') ?? '' };
}

function list(value: unknown, path: string): [JsonObject, string][] {
  if (!Array.isArray(value)) return [];
  return value.map((entry, index) => [asObject(entry) ?? {}, `${path}[${index}]`]);
}
