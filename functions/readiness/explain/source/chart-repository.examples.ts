import { charts, type Example, providerConfig } from '../testing.ts';

export const chartRepositoryExamples: Example[] = [
  [
    charts,
    providerConfig,
    'failed to fetch Helm repository index: failed to cache index to temporary file: failed to fetch https://charts.example.com/index.yaml : 401 Unauthorized',
    'AuthenticationFailed',
    'the server does not allow Flux to read the charts at https://charts.example.com; put username and password',
  ],
  [
    charts,
    providerConfig,
    'failed to fetch Helm repository index: failed to cache index to temporary file: failed to fetch https://charts.example.com/index.yaml : 404 Not Found',
    'RepositoryNotFound',
    'there is no repository of charts at https://charts.example.com; correct source.template.spec.url of the providerConfig',
  ],
  [
    charts,
    providerConfig,
    'failed to load Helm repository from index YAML: failed to load index: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type repo.IndexFile',
    'ArtifactUnusable',
    'does not respond like a repository of charts',
  ],
  [
    charts,
    providerConfig,
    "invalid Helm repository URL: 'oci' URL scheme cannot be used with 'default' HelmRepository type",
    'UrlInvalid',
    'set type to oci in source.template.spec of the providerConfig',
  ],
];
