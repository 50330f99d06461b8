/**
 * Lists of which kustomize merges the entries, and the fields by which it knows an entry, as in the OpenAPI schemas of
 * Kubernetes. All other lists are replaced. `[]` stands for an entry.
 */
const ofPods: Record<string, readonly string[]> = {
  containers: ['name'],
  'containers[].env': ['name'],
  'containers[].ports': ['containerPort', 'protocol'],
  'containers[].volumeMounts': ['mountPath'],
  'containers[].volumeDevices': ['devicePath'],
  volumes: ['name'],
  imagePullSecrets: ['name'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
};

const POD = 'spec.template.spec.';

const mergeKeys: Record<string, Record<string, readonly string[]>> = {
  Deployment: Object.fromEntries(
    Object.entries(ofPods).flatMap(([path, keys]) => {
      const own: [string, readonly string[]][] = [[POD + path, keys]];
      return path.startsWith('containers') ? [...own, [POD + path.replace('containers', 'initContainers'), keys]] : own;
    }),
  ),
  Service: { 'spec.ports': ['port', 'protocol'] },
  ServiceAccount: { secrets: ['name'], imagePullSecrets: ['name'] },
};

/** Returns the fields by which entries of a list are merged; undefined if a patch replaces the list. */
export function mergeKeysOf(kind: string, path: string): readonly string[] | undefined {
  return Object.hasOwn(mergeKeys, kind) ? mergeKeys[kind]?.[path] : undefined;
}
