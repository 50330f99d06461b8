import type { Statement } from './iam.ts';
import { ACCOUNT, REGION } from './iam.ts';
import type { RolePolicies } from './stand-in.ts';

/** A deployed Lambda, as the control plane describes it. */
export interface DeployedLambda {
  FunctionName: string;
  Role: string;
  Handler: string;
  Timeout: number;
  CodeSha256: string;
  Environment?: { Variables: Record<string, string> };
}

/** A deployed event source mapping. */
export interface Mapping {
  EventSourceArn: string;
  FunctionArn: string;
  BatchSize: number;
  ScalingConfig: { MaximumConcurrency: number };
}

/** Reads what is deployed in moto's account, without the stand-in between. */
export function accountIn(moto: string) {
  const call = async (service: string, path: string, body?: URLSearchParams): Promise<string> => {
    // moto reads the region from the signature, and does not verify it.
    const authorization = `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=0`;
    const response = await fetch(`${moto}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, host: `${service}.${REGION}.amazonaws.com` },
      ...(body !== undefined && { body }),
    });
    if (!response.ok) throw new Error(`${service} ${path} ${body}: ${await response.text()}`);
    return response.text();
  };
  const iam = (Action: string, values: Record<string, string>) =>
    call('iam', '/', new URLSearchParams({ Action, Version: '2010-05-08', ...values }));
  const attached = async (RoleName: string): Promise<Statement[]> => {
    const arns = valuesOf(await iam('ListAttachedRolePolicies', { RoleName }), 'PolicyArn');
    const versions = await Promise.all(
      arns.map(async (PolicyArn) => {
        const [VersionId = 'v1'] = valuesOf(await iam('GetPolicy', { PolicyArn }), 'DefaultVersionId');
        return statementsIn(await iam('GetPolicyVersion', { PolicyArn, VersionId }), 'Document');
      }),
    );
    return versions.flat();
  };

  return {
    async lambdas(): Promise<DeployedLambda[]> {
      return JSON.parse(await call('lambda', '/2015-03-31/functions/')).Functions;
    },
    async mappings(): Promise<Mapping[]> {
      return JSON.parse(await call('lambda', '/2015-03-31/event-source-mappings/')).EventSourceMappings;
    },
    queueUrl: (arn: string) => `${moto}/${ACCOUNT}/${arn.split(':').at(-1)}`,
    /** CloudFormation does this when it deletes a role; moto refuses to delete one that has policies. */
    async detachPolicies(): Promise<void> {
      for (const RoleName of valuesOf(await iam('ListRoles', {}), 'RoleName')) {
        for (const PolicyArn of valuesOf(await iam('ListAttachedRolePolicies', { RoleName }), 'PolicyArn')) {
          await iam('DetachRolePolicy', { RoleName, PolicyArn });
        }
      }
    },
    async policiesOf(RoleName: string): Promise<RolePolicies> {
      const inline = valuesOf(await iam('ListRolePolicies', { RoleName }), 'member');
      const own = await Promise.all(
        inline.map(async (PolicyName) =>
          statementsIn(await iam('GetRolePolicy', { RoleName, PolicyName }), 'PolicyDocument'),
        ),
      );
      const trust = statementsIn(await iam('GetRole', { RoleName }), 'AssumeRolePolicyDocument');
      return { statements: [...own.flat(), ...(await attached(RoleName))], trust };
    },
  };
}

function valuesOf(xml: string, tag: string): string[] {
  return [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, value = '']) => value);
}

function statementsIn(xml: string, tag: string): Statement[] {
  const text = decodeURIComponent(valuesOf(xml, tag)[0] ?? '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'");
  // moto returns the document of a template as Python prints it.
  const document = text.startsWith("{'") ? text.replaceAll("'", '"') : text;
  return (JSON.parse(document) as { Statement: Statement[] }).Statement;
}
