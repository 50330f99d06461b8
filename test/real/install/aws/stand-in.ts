import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from '../../cluster/ports.ts';
import { ACCOUNT, type AwsRequest, formOf, isAllowed, REGION, type Statement, signerOf, wantedOf } from './iam.ts';
import type { Issuer } from './issuer.ts';

/** Credentials of a role, as AWS gives them for a while. */
export interface RoleCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

/** What a role may do, and who may get it. */
export interface RolePolicies {
  statements: Statement[];
  trust: Statement[];
}

export interface StandInOptions {
  /** Where moto listens. */
  moto: string;
  issuer: Issuer;
  /** Reads the policies of a role as they are deployed. */
  policiesOf(role: string): Promise<RolePolicies>;
  /** Called before a stack is deleted. */
  detachPolicies(): Promise<void>;
  /** Verifies a token of another issuer, and returns its claims. */
  verify(token: string): Promise<{ iss: string; aud: string[]; sub: string }>;
}

const validated =
  '<ValidateTemplateResponse><ValidateTemplateResult><Parameters/></ValidateTemplateResult></ValidateTemplateResponse>';

const federationEnabled = (issuer: string) =>
  `<EnableOutboundWebIdentityFederationResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><EnableOutboundWebIdentityFederationResult><IssuerIdentifier>${issuer}</IssuerIdentifier></EnableOutboundWebIdentityFederationResult></EnableOutboundWebIdentityFederationResponse>`;

const ADMINISTRATOR = 'AKIAADMINISTRATOR';

/** AWS on loopback: moto does the work; the policies of roles are enforced here. */
export async function startStandIn(options: StandInOptions) {
  const { moto, issuer, policiesOf, verify } = options;
  const roles = new Map<string, { role: string; credentials: RoleCredentials }>();
  /** Requests that a role had no right to. */
  const refused: string[] = [];
  /** Actions that roles have used, as `role action`. */
  const used = new Set<string>();
  let signsTokens = false;
  // Until the administrator changes something.
  const deployed = new Map<string, Promise<RolePolicies>>();
  const policies = (role: string): Promise<RolePolicies> => {
    const known = deployed.get(role) ?? policiesOf(role);
    deployed.set(role, known);
    known.catch(() => deployed.delete(role));
    return known;
  };
  const issue = (role: string): RoleCredentials => {
    const random = () => randomBytes(8).toString('hex').toUpperCase();
    const credentials = { accessKeyId: `ASIA${random()}`, secretAccessKey: random(), sessionToken: random() };
    roles.set(credentials.accessKeyId, { role, credentials });
    return credentials;
  };

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const bytes = await buffer(incoming);
    const request: AwsRequest = { headers: incoming.headers, body: bytes.toString('latin1') };
    const signer = signerOf(request);
    if (signer === undefined) {
      if (formOf(request).Action === 'AssumeRoleWithWebIdentity') await assumeRole(formOf(request), outgoing);
      else deny(outgoing, 'MissingAuthenticationToken', 'a request without a signature');
      return;
    }
    if (signer.accessKeyId === ADMINISTRATOR) {
      deployed.clear();
      const { Action } = formOf(request);
      // moto takes warnings for errors. The template is checked against AWS's schemas by the test.
      if (Action === 'ValidateTemplate') return answer(outgoing, 200, validated);
      if (Action === 'EnableOutboundWebIdentityFederation') {
        signsTokens = true;
        return answer(outgoing, 200, federationEnabled(issuer.url));
      }
      if (Action === 'DeleteStack') await options.detachPolicies();
      await forward(incoming, await asAdministrator(request, bytes, moto), outgoing, moto);
      return;
    }
    const known = roles.get(signer.accessKeyId);
    const isKnown = known?.credentials.sessionToken === incoming.headers['x-amz-security-token'];
    const wanted = wantedOf(request, signer);
    const statements = known === undefined ? [] : (await policies(known.role)).statements;
    if (known === undefined || !isKnown || wanted === undefined || !isAllowed(statements, wanted)) {
      deny(outgoing, 'AccessDeniedException', `${known?.role} ${wanted?.action} ${wanted?.resource}`);
      return;
    }
    used.add(`${known.role} ${wanted.action}`);
    if (wanted.action !== 'sts:GetWebIdentityToken') return forward(incoming, bytes, outgoing, moto);
    if (!signsTokens)
      return deny(outgoing, 'OutboundWebIdentityFederationDisabled', 'a token of an account without it');
    const token = issuer.token({
      sub: `arn:aws:iam::${ACCOUNT}:role/${known.role}`,
      aud: wanted.context['sts:IdentityTokenAudience']?.[0] ?? '',
      seconds: Number(wanted.context['sts:DurationSeconds']?.[0]),
    });
    const result = `<GetWebIdentityTokenResult><WebIdentityToken>${token}</WebIdentityToken></GetWebIdentityTokenResult>`;
    answer(outgoing, 200, `<GetWebIdentityTokenResponse>${result}</GetWebIdentityTokenResponse>`);
  };

  const assumeRole = async (form: Record<string, string>, outgoing: ServerResponse): Promise<void> => {
    const role = form.RoleArn?.split('/').at(-1) ?? '';
    const { iss, aud, sub } = await verify(form.WebIdentityToken ?? '');
    const issuerName = iss.replace('https://', '');
    const { trust } = await policies(role);
    const provider = `arn:aws:iam::${ACCOUNT}:oidc-provider/${issuerName}`;
    const trusted = trust.filter(({ Principal }) => Principal?.Federated === provider);
    const context = { [`${issuerName}:aud`]: aud, [`${issuerName}:sub`]: [sub] };
    if (!isAllowed(trusted, { action: 'sts:AssumeRoleWithWebIdentity', resource: '*', context })) {
      deny(outgoing, 'AccessDenied', `${sub} sts:AssumeRoleWithWebIdentity ${role}`);
      return;
    }
    used.add(`${sub} sts:AssumeRoleWithWebIdentity`);
    const { accessKeyId, secretAccessKey, sessionToken } = issue(role);
    const expiration = new Date(Date.now() + 3_600_000).toISOString();
    const credentials = `<Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${expiration}</Expiration></Credentials>`;
    const user = `<AssumedRoleUser><Arn>${form.RoleArn}</Arn><AssumedRoleId>A:B</AssumedRoleId></AssumedRoleUser>`;
    answer(
      outgoing,
      200,
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>${credentials}${user}</AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`,
    );
  };

  const deny = (outgoing: ServerResponse, code: string, what: string): void => {
    refused.push(what);
    const isJson = outgoing.req.headers['x-amz-target'] !== undefined;
    const xml = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${what}</Message></Error></ErrorResponse>`;
    answer(outgoing, 403, isJson ? JSON.stringify({ __type: code, message: what }) : xml);
  };

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error) => answer(outgoing, 500, `<Error>${error}</Error>`));
  });
  server.keepAliveTimeout = 60_000;
  const listening = await listen(server);
  const endpoint = `http://${listening.host}`;
  return {
    ...listening,
    endpoint,
    /** Environment for programs of the account's administrator, such as osls and AWS's command line. */
    administrator: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: ADMINISTRATOR,
      AWS_SECRET_ACCESS_KEY: 'administrator',
      AWS_REGION: REGION,
      AWS_DEFAULT_REGION: REGION,
    },
    credentialsOf: issue,
    refused,
    used,
  };
}

/** What moto cannot do is taken out of templates, or answered here. */
async function asAdministrator(request: AwsRequest, bytes: Buffer, moto: string): Promise<Buffer> {
  const form = formOf(request);
  if (form.TemplateURL === undefined) return bytes;
  const { TemplateURL, ...rest } = form;
  // The query protocol's form has no place for a template of this size on AWS; moto takes it.
  const headers = { authorization: String(request.headers.authorization).replace('/cloudformation/', '/s3/') };
  const template = await (await fetch(`${moto}${new URL(TemplateURL).pathname}`, { headers })).text();
  const body = forMoto(JSON.parse(template));
  return Buffer.from(new URLSearchParams({ ...rest, TemplateBody: JSON.stringify(body) }).toString());
}

async function forward(incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse, moto: string): Promise<void> {
  // The host stays: moto makes the URLs of queues of it.
  const names = ['connection', 'content-length', 'transfer-encoding', 'expect'];
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    names.includes(name) || value === undefined ? [] : [[name, String(value)]],
  );
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const response = await fetch(`${moto}${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers,
    ...(hasBody && { body: new Uint8Array(body) }),
  });
  const given = [...response.headers].filter(
    ([name]) => !['connection', 'content-length', 'transfer-encoding', 'content-encoding', 'keep-alive'].includes(name),
  );
  outgoing.writeHead(response.status, Object.fromEntries(given));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

function answer(outgoing: ServerResponse, status: number, body: string): void {
  const type = body.startsWith('{') ? 'application/x-amz-json-1.1' : 'text/xml';
  outgoing.writeHead(status, { 'content-type': type }).end(body);
}

/** A template of CloudFormation. */
interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, object>;
}

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DependsOn?: string | string[];
}

/** Resource types that moto does not know. Others, such as alarms, it passes over. */
const unsupported = ['AWS::Lambda::Url'];

/** Returns the template as moto can deploy it, with the same meaning as far as moto knows the resources. */
function forMoto(template: Template): Template {
  return withPoliciesAttached(withoutUnsupported(template));
}

/** Returns the template without what moto cannot deploy, and without the outputs that refer to it. */
function withoutUnsupported(template: Template): Template {
  const gone = Object.entries(template.Resources).flatMap(([id, { Type }]) => (unsupported.includes(Type) ? [id] : []));
  const refersToGone = (output: object) => gone.some((id) => JSON.stringify(output).includes(`"${id}"`));
  return {
    ...template,
    Resources: Object.fromEntries(Object.entries(template.Resources).filter(([id]) => !gone.includes(id))),
    Outputs: Object.fromEntries(Object.entries(template.Outputs ?? {}).filter(([, output]) => !refersToGone(output))),
  };
}

/** moto passes over the managed policies that a role names; that a policy names its roles says the same. */
function withPoliciesAttached(template: Template): Template {
  const resources = structuredClone(template.Resources);
  for (const [id, { Type, Properties }] of Object.entries(resources)) {
    if (Type !== 'AWS::IAM::Role') continue;
    const { ManagedPolicyArns = [] } = Properties as { ManagedPolicyArns?: { Ref: string }[] };
    for (const { Ref } of ManagedPolicyArns) {
      const policy = resources[Ref];
      if (policy?.Type !== 'AWS::IAM::ManagedPolicy') throw new Error(`${id} names ${Ref}, which is no policy.`);
      const { Roles = [] } = policy.Properties as { Roles?: object[] };
      policy.Properties.Roles = [...Roles, { Ref: id }];
    }
    delete Properties.ManagedPolicyArns;
  }
  return { ...template, Resources: resources };
}
