import type { Files } from '@shoot-flux/landscape/git';

/** The versions of podinfo in the first and the second commit. */
export const versions = { first: '6.9.2', second: '6.9.4' };

/** Returns the files of a project's repository: podinfo as Deployment and Service, in the folder that Flux applies. */
export function podinfoFiles(version: string): Files {
  return {
    'README.md': '# fleet\n\nThe workloads in every Shoot of the project.\n',
    'podinfo/deployment.yaml': deployment(version),
    'podinfo/service.yaml': service,
  };
}

const deployment = (version: string) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: podinfo
  namespace: default
  labels:
    app: podinfo
    app.kubernetes.io/version: ${version}
spec:
  replicas: 2
  selector:
    matchLabels:
      app: podinfo
  template:
    metadata:
      labels:
        app: podinfo
    spec:
      securityContext:
        runAsNonRoot: true
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: podinfo
          image: ghcr.io/stefanprodan/podinfo:${version}
          ports:
            - name: http
              containerPort: 9898
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
          resources:
            requests:
              cpu: 10m
              memory: 32Mi
            limits:
              memory: 128Mi
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
`;

const service = `apiVersion: v1
kind: Service
metadata:
  name: podinfo
  namespace: default
  labels:
    app: podinfo
spec:
  selector:
    app: podinfo
  ports:
    - name: http
      port: 80
      targetPort: http
`;
