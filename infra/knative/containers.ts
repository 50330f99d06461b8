import { CONFIG, PORT } from './names.ts';

/** Image name that overlays replace. */
export const IMAGE = 'shoot-flux';

/** Memory and CPU of a container. */
export interface Resources {
  cpu: string;
  memory: string;
  mostMemory: string;
}

/**
 * Returns the part of a pod that functions and the bridge have in common: no rights in their own cluster, a read-only root,
 * the config file, and the kubeconfigs of this identity alone.
 * @param identity name of the ServiceAccount, and of the Secret with the kubeconfigs
 */
export function podSpec(identity: string, args: string[], { cpu, memory, mostMemory }: Resources, extra: object = {}) {
  return {
    serviceAccountName: identity,
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'shoot-flux',
        image: IMAGE,
        args: [...args, '--config', '/etc/shoot-flux/config.yaml'],
        ports: [{ containerPort: PORT }],
        resources: { requests: { cpu, memory }, limits: { memory: mostMemory } },
        readinessProbe: { httpGet: { path: '/readyz', port: PORT } },
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        volumeMounts: [
          { name: 'config', mountPath: '/etc/shoot-flux', readOnly: true },
          { name: 'kubeconfigs', mountPath: '/kubeconfigs', readOnly: true },
        ],
        ...extra,
      },
    ],
    volumes: [
      { name: 'config', configMap: { name: CONFIG } },
      { name: 'kubeconfigs', secret: { secretName: identity } },
    ],
  };
}
