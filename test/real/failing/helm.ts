import { stringify } from 'yaml';
import { type FailingObject, failing, HOUR, secretRef } from './object.ts';

/** Charts and releases that source-controller and helm-controller cannot make Ready. */
export function failingReleases(): FailingObject[] {
  return [...charts(), ...waitingReleases(), ...releases()];
}

const fromRepository = (name: string) => ({ sourceRef: { kind: 'HelmRepository', name } });
const fromGit = { sourceRef: { kind: 'GitRepository', name: 'good' } };

function charts(): FailingObject[] {
  const app = { ...HOUR, chart: 'app', version: '1.x' };
  const http = { ...app, ...fromRepository('charts') };
  const oci = { ...app, ...fromRepository('oci') };
  return failing('HelmChart', {
    version: [{ ...http, version: '9.*' }, 'ChartNotFound', 'no chart app in a version that matches 9.*'],
    unknown: [{ ...http, chart: 'nothing' }, 'ChartNotFound', 'the repository has no chart of this name'],
    range: [{ ...http, version: '>>9' }, 'RevisionInvalid', 'correct the version of the chart in objects[1].spec'],
    'no-source': [{ ...app, ...fromRepository('none') }, 'SourceMissing', 'HelmRepository none does not exist'],
    waits: [{ ...app, ...fromRepository('refused') }, 'SourceNotReady', 'check HelmRepository refused'],
    'oci-version': [{ ...oci, version: '9.x' }, 'ChartNotFound', 'no version of the chart that matches 9.x'],
    'oci-exact': [{ ...oci, version: '9.0.0' }, 'ChartNotFound', 'or not in this version'],
    'oci-unknown': [{ ...oci, chart: 'nothing' }, 'ChartNotFound', 'the repository has no chart of this name'],
    anonymous: [
      { ...app, ...fromRepository('oci-anonymous') },
      'AuthenticationFailed',
      'spec.secretRef of its HelmRepository',
    ],
    password: [{ ...app, ...fromRepository('oci-password') }, 'AuthenticationFailed', 'put .dockerconfigjson'],
    'no-secret': [
      { ...app, ...fromRepository('oci-secret') },
      'CredentialsMissing',
      'Secret flux-system/none of its HelmRepository',
    ],
    folder: [{ ...HOUR, ...fromGit, chart: './nowhere' }, 'PathNotFound', 'no chart in the folder nowhere'],
    'no-chart': [{ ...HOUR, ...fromGit, chart: './plain' }, 'PathNotFound', 'no chart in the folder plain'],
    values: [{ ...http, valuesFiles: ['none.yaml'] }, 'ValuesMissing', 'there is no file none.yaml with values'],
    unsigned: [
      { ...oci, verify: { provider: 'cosign', ...secretRef('cosign') } },
      'VerificationFailed',
      'sign the chart',
    ],
  });
}

const place = { ...HOUR, targetNamespace: 'default', storageNamespace: 'flux-system' };
const chartOf = (version: string, repository: string) => ({
  chart: { spec: { ...HOUR, chart: 'app', version, ...fromRepository(repository) } },
});
const all = { ...place, ...chartOf('1.x', 'charts') };

function waitingReleases(): FailingObject[] {
  const valuesFrom = (name: string) => ({ valuesFrom: [{ kind: 'Secret', name }] });
  const chartRef = (kind: string, name: string) => ({ ...place, chartRef: { kind, name } });
  return failing('HelmRelease', {
    'no-values': [{ ...all, ...valuesFrom('none') }, 'ValuesMissing', 'key values.yaml of Secret flux-system/none'],
    'no-key': [{ ...all, ...valuesFrom('authority') }, 'ValuesMissing', 'add the key to the original of the Secret'],
    'bad-values': [{ ...all, ...valuesFrom('bad-values') }, 'ValuesInvalid', 'is not YAML with values; correct it'],
    version: [{ ...place, ...chartOf('9.x', 'charts') }, 'ChartNotFound', 'in a version that matches 9.x'],
    'no-repository': [{ ...place, ...chartOf('1.x', 'none') }, 'SourceMissing', 'HelmRepository none does not exist'],
    'no-chart': [chartRef('OCIRepository', 'none'), 'SourceMissing', 'OCIRepository none does not exist'],
    'chart-waits': [chartRef('OCIRepository', 'tag'), 'SourceNotReady', 'OCIRepository flux-system/tag is not ready'],
    'no-chart-at-all': [chartRef('OCIRepository', 'good'), 'ArtifactUnusable', 'not a chart that Helm can load'],
    depends: [{ ...all, dependsOn: [{ name: 'none' }] }, 'DependencyNotReady', 'which does not exist'],
    waits: [
      { ...all, dependsOn: [{ name: 'template' }] },
      'DependencyNotReady',
      'check HelmRelease flux-system/template',
    ],
    expression: [
      { ...all, dependsOn: [{ name: 'template', readyExpr: 'dep.(' }] },
      'ExpressionInvalid',
      'correct readyExpr',
    ],
    kubeconfig: [
      { ...all, kubeConfig: secretRef('none') },
      'KubeConfigUnusable',
      'Secret flux-system/none cannot be used',
    ],
    account: [
      { ...all, serviceAccountName: 'none' },
      'NotAllowed',
      'ServiceAccount flux-system/none is not allowed to',
    ],
  });
}

function releases(): FailingObject[] {
  const values = (mode: string, more: object = {}) => ({ ...all, values: { mode, ...more } });
  const patches = [{ target: { kind: 'ConfigMap' }, patch: 'a: [' }];
  const stopped = 'and Flux no longer tries';
  return failing('HelmRelease', {
    template: [values('template'), 'ReleaseFailed', 'cannot be rendered with these values'],
    required: [values('required'), 'ReleaseFailed', 'correct values and valuesFrom in objects[1].spec'],
    schema: [values('good', { replicas: 'many' }), 'ReleaseFailed', 'cannot be rendered with these values'],
    yaml: [values('yaml'), 'ReleaseFailed', 'cannot be rendered with these values'],
    rejected: [
      values('rejected'),
      'ReleaseFailed',
      `Helm reports a failure of the install of release default/default-rejected, ${stopped}`,
    ],
    kind: [values('kind'), 'KindUnknown', 'the shoot has no kind Unknown in example.com/v1'],
    timeout: [
      { ...values('volume'), timeout: '2s' },
      'ReleaseFailed',
      `did not become ready during its install, ${stopped}`,
    ],
    namespace: [{ ...values('good'), targetNamespace: 'nowhere' }, 'NamespaceMissing', 'set install.createNamespace'],
    post: [
      { ...values('good'), postRenderers: [{ kustomize: { patches } }] },
      'ReleaseFailed',
      'correct postRenderers',
    ],
  });
}

/** The files of a chart whose value `mode` decides how it fails. */
export function failingChart(name: string): Record<string, string> {
  return {
    'Chart.yaml': stringify({ apiVersion: 'v2', name, version: '1.2.3' }),
    'values.yaml': 'mode: good\nreplicas: 1\n',
    'values.schema.json': JSON.stringify({ type: 'object', properties: { replicas: { type: 'integer' } } }),
    'templates/all.yaml': template,
  };
}

const template = `
{{- if eq .Values.mode "template" }}
{{ concat .Values.mode }}
{{- else if eq .Values.mode "required" }}
a: {{ required "name is required" .Values.name }}
{{- else if eq .Values.mode "yaml" }}
a: b: c
{{- else if eq .Values.mode "kind" }}
apiVersion: example.com/v1
kind: Unknown
metadata: { name: a }
{{- else if eq .Values.mode "volume" }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: never-bound }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
{{- else }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  labels: { a: {{ if eq .Values.mode "rejected" }}"b c"{{ else }}b{{ end }} }
data: { replicas: "{{ .Values.replicas }}" }
{{- end }}
`;
