import type { KubeObject } from '../../shared/kube/resource.ts';
import { type AnyDefinition, findAllDefinitions } from '../functions.ts';
import { yaml } from '../gardener/manifests.ts';
import { boundRole, policyObjects } from '../gardener/rbac.ts';

/** The user of a function in a cluster that trusts the account's tokens; the function's name follows. */
const AWS_USER = 'shoot-flux-aws:';

export const manifestsFolder = new URL('./manifests/', import.meta.url);

/** Generates, from the functions' definitions, what clusters need to trust the roles of a deployment on AWS, by file name. */
export async function awsManifests(): Promise<Record<string, string>> {
  const definitions = await findAllDefinitions();
  const rights = (place: 'garden' | 'seed') => definitions.flatMap((definition) => binding(definition, place));
  const ours = [`request.userInfo.username.startsWith('${AWS_USER}')`];
  return {
    'authentication.yaml': yaml([authentication()]),
    'rbac-garden.yaml': yaml([...rights('garden'), ...policyObjects('shoot-flux-secrets-aws', ours)]),
    'rbac-seed.yaml': yaml(rights('seed')),
  };
}

function binding({ name, rights }: AnyDefinition, place: 'garden' | 'seed'): KubeObject[] {
  const metadata = { name: `extensions.gardener.cloud:shoot-flux-aws:${name}` };
  const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `${AWS_USER}${name}` };
  return boundRole(metadata, rights[place], subject);
}

/** Trusts tokens that name a role of the deployment and were requested for this cluster. Replace words in capitals. */
function authentication(): KubeObject {
  return {
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: 'ISSUER', audiences: ['DEPLOYMENT/CLUSTER'] },
        claimValidationRules: [
          {
            expression: "claims.sub.startsWith('arn:aws:iam::ACCOUNT:role/DEPLOYMENT-REGION-')",
            message: 'not a role of this deployment of shoot-flux',
          },
        ],
        claimMappings: {
          username: {
            expression: `'${AWS_USER}' + claims.sub.replace('arn:aws:iam::ACCOUNT:role/DEPLOYMENT-REGION-', '')`,
          },
        },
      },
    ],
  } as unknown as KubeObject;
}
