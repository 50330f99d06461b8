import {
  checkout,
  type Examples,
  flux,
  fluxConfig,
  https,
  oci,
  overHttps,
  overSsh,
  providerConfig,
  ssh,
} from '../examples.testing.ts';

export const connectionExamples: Examples[] = [
  [
    overSsh,
    fluxConfig,
    {
      [`${checkout} clone '${ssh}': dial tcp: lookup git.example.com on 100.64.0.10:53: no such host`]: [
        'NameNotResolved: the host name git.example.com cannot be resolved in the shoot',
        'repositoryUrl',
      ],
      [`${checkout} clone '${ssh}': dial tcp 192.0.2.7:22: connect: connection refused`]:
        'ConnectionRefused: git.example.com refuses the connection',
      [`${checkout} clone '${ssh}': dial tcp 192.0.2.7:22: connect: connection timed out`]:
        'TimedOut: allow the shoot to reach it (firewall, proxy, NetworkPolicies), or raise source.template.spec.timeout of a source in config.yaml of ConfigMap flux-config or in the providerConfig (repositoryUrl has no key for it)',
      [`${checkout} clone '${ssh}': dial tcp 192.0.2.7:22: connect: no route to host`]:
        'NotReachable: the connection to git.example.com fails',
    },
  ],
  [
    overHttps,
    fluxConfig,
    {
      [`${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": dial tcp: lookup git.example.com on 10.100.0.10:53: read udp 192.168.78.214:47218->10.100.0.10:53: i/o timeout`]:
        'NameNotResolved: the host name git.example.com cannot be resolved',
      [`${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": tls: failed to verify certificate: x509: certificate signed by unknown authority`]:
        "CertificateNotTrusted: add the certificate of its authority as ca.crt to Secret flux-source in the project's namespace",
      [`${checkout} clone '${https}': unexpected client error: unexpected requesting "${https}/info/refs?service=git-upload-pack" status code: 503`]:
        'ServerFailed: git.example.com answers with a server error; Flux retries automatically',
    },
  ],
  [
    oci,
    providerConfig,
    {
      "failed to generate transport for 'oci://ghcr.io/org/fleet': failed to parse CA certificate":
        'CertificateUnusable: put them in PEM format into ca.crt',
      'failed to determine artifact digest: GET https://index.docker.io/v2/org/fleet/manifests/1: TOOMANYREQUESTS: You have reached your unauthenticated pull rate limit.':
        'RateLimited: raise source.template.spec.interval of the providerConfig',
      'failed to determine artifact digest: Get "https://ghcr.io/v2/": http: server gave HTTP response to HTTPS client':
        'ProtocolMismatch: correct source.template.spec.url of the providerConfig, or set insecure',
    },
  ],
  [
    flux('source', 'OCIRepository', 'fleet', { url: 'oci://ghcr.io/org/fleet', secretRef: { name: 'flux-registry' } }),
    fluxConfig,
    {
      'failed to determine artifact digest: Get "https://ghcr.io/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority':
        "CertificateNotTrusted: add the certificate of its authority as ca.crt to Secret flux-registry in the project's namespace",
    },
  ],
  [
    overHttps,
    providerConfig,
    {
      [`${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": tls: failed to verify certificate: x509: certificate is valid for ingress.local, not git.example.com`]:
        'CertificateInvalid: the certificate of git.example.com is not valid for that name',
      [`${checkout} clone '${https}': Get "${https}": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-01-02T03:04:05Z is after 2025-01-02T03:04:05Z`]:
        'CertificateInvalid: has expired or is not yet valid',
      [`${checkout} clone '${https}': tls: handshake failure`]:
        'CertificateNotTrusted: no TLS connection to git.example.com can be established',
    },
  ],
];
