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
    ChartNotFound: {
      version: [{ ...http, version: '9.*' }, 'no chart app in a version that matches 9.*'],
      unknown: [{ ...http, chart: 'nothing' }, 'the repository has no chart of this name'],
      'oci-version': [{ ...oci, version: '9.x' }, 'no version of the chart that matches 9.x'],
      'oci-exact': [{ ...oci, version: '9.0.0' }, 'or not in this version'],
      'oci-unknown': [{ ...oci, chart: 'nothing' }, 'the repository has no chart of this name'],
    },
    RevisionInvalid: { range: [{ ...http, version: '>>9' }, 'correct the version of the chart in objects[1].spec'] },
    SourceMissing: { 'no-source': [{ ...app, ...fromRepository('none') }, 'HelmRepository none does not exist'] },
    SourceNotReady: { waits: [{ ...app, ...fromRepository('refused') }, 'check HelmRepository refused'] },
    AuthenticationFailed: {
      anonymous: [{ ...app, ...fromRepository('oci-anonymous') }, 'spec.secretRef of its HelmRepository'],
      password: [{ ...app, ...fromRepository('oci-password') }, 'put .dockerconfigjson'],
    },
    CredentialsMissing: {
      'no-secret': [{ ...app, ...fromRepository('oci-secret') }, 'Secret flux-system/none of its HelmRepository'],
    },
    PathNotFound: {
      folder: [{ ...HOUR, ...fromGit, chart: './nowhere' }, 'no chart in the folder nowhere'],
      'no-chart': [{ ...HOUR, ...fromGit, chart: './plain' }, 'no chart in the folder plain'],
    },
    ValuesMissing: { values: [{ ...http, valuesFiles: ['none.yaml'] }, 'there is no file none.yaml with values'] },
    VerificationFailed: {
      unsigned: [{ ...oci, verify: { provider: 'cosign', ...secretRef('cosign') } }, 'sign the chart'],
    },
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
    ValuesMissing: {
      'no-values': [{ ...all, ...valuesFrom('none') }, 'key values.yaml of Secret flux-system/none'],
      'no-key': [{ ...all, ...valuesFrom('authority') }, 'add the key to the original of the Secret'],
    },
    ValuesInvalid: { 'bad-values': [{ ...all, ...valuesFrom('bad-values') }, 'is not YAML with values; correct it'] },
    ChartNotFound: { version: [{ ...place, ...chartOf('9.x', 'charts') }, 'in a version that matches 9.x'] },
    SourceMissing: {
      'no-repository': [{ ...place, ...chartOf('1.x', 'none') }, 'HelmRepository none does not exist'],
      'no-chart': [chartRef('OCIRepository', 'none'), 'OCIRepository none does not exist'],
    },
    SourceNotReady: { 'chart-waits': [chartRef('OCIRepository', 'tag'), 'OCIRepository flux-system/tag is not ready'] },
    ArtifactUnusable: { 'no-chart-at-all': [chartRef('OCIRepository', 'good'), 'not a chart that Helm can load'] },
    DependencyNotReady: {
      depends: [{ ...all, dependsOn: [{ name: 'none' }] }, 'which does not exist'],
      waits: [{ ...all, dependsOn: [{ name: 'template' }] }, 'check HelmRelease flux-system/template'],
    },
    ExpressionInvalid: {
      expression: [{ ...all, dependsOn: [{ name: 'template', readyExpr: 'dep.(' }] }, 'correct readyExpr'],
    },
    KubeConfigUnusable: {
      kubeconfig: [{ ...all, kubeConfig: secretRef('none') }, 'Secret flux-system/none cannot be used'],
    },
    NotAllowed: {
      account: [{ ...all, serviceAccountName: 'none' }, 'ServiceAccount flux-system/none is not allowed to'],
    },
  });
}

function releases(): FailingObject[] {
  const values = (mode: string, more: object = {}) => ({ ...all, values: { mode, ...more } });
  const patches = [{ target: { kind: 'ConfigMap' }, patch: 'a: [' }];
  const stopped = 'and Flux no longer tries';
  return failing('HelmRelease', {
    ReleaseFailed: {
      template: [values('template'), 'cannot be rendered with these values'],
      required: [values('required'), 'correct values and valuesFrom in objects[1].spec'],
      schema: [values('good', { replicas: 'many' }), 'cannot be rendered with these values'],
      yaml: [values('yaml'), 'cannot be rendered with these values'],
      rejected: [
        values('rejected'),
        `Helm reports a failure of the install of release default/default-rejected, ${stopped}`,
      ],
      timeout: [{ ...values('volume'), timeout: '2s' }, `did not become ready during its install, ${stopped}`],
      post: [{ ...values('good'), postRenderers: [{ kustomize: { patches } }] }, 'correct postRenderers'],
    },
    KindUnknown: { kind: [values('kind'), 'the shoot has no kind Unknown in example.com/v1'] },
    NamespaceMissing: { namespace: [{ ...values('good'), targetNamespace: 'nowhere' }, 'set install.createNamespace'] },
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
