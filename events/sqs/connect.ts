import type { SQSClient } from '@aws-sdk/client-sqs';

/** Which SQS is used. */
export interface SqsOptions {
  /** Another SQS than AWS's, for example `http://127.0.0.1:4566`. Default: AWS in the region. */
  endpoint?: string | undefined;
  /** Default: as the SDK finds it, and `us-east-1` with an endpoint. */
  region?: string | undefined;
}

/** The SDK's commands and a client. */
export interface Sqs {
  client: SQSClient;
  commands: typeof import('./client.ts');
}

/** Returns a connection to SQS that loads the SDK on first use and is then kept. */
export function lazySqs(options: SqsOptions = {}): () => Promise<Sqs> {
  let connected: Promise<Sqs> | undefined;
  return () => {
    connected ??= connect(options);
    return connected;
  };
}

async function connect({ endpoint, region }: SqsOptions): Promise<Sqs> {
  const commands = await import('./client.ts');
  const client = new commands.SQSClient({
    maxAttempts: 4,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint, ...emulator(endpoint, region) }),
  });
  return { client, commands };
}

/** Variables of which one is set where the SDK finds credentials without asking for an instance's role. */
const CREDENTIALS = [
  'AWS_ACCESS_KEY_ID',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_PROFILE',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
];

function hasCredentials(): boolean {
  return CREDENTIALS.some((name) => process.env[name] !== undefined);
}

/** Emulators accept any signature; without credentials the SDK would look for an instance role first. */
function emulator(endpoint: string, region: string | undefined) {
  if (new URL(endpoint).hostname.endsWith('.amazonaws.com')) return {};
  const credentials = { accessKeyId: 'shoot-flux', secretAccessKey: 'shoot-flux' };
  return {
    ...(region === undefined && process.env.AWS_REGION === undefined ? { region: 'us-east-1' } : {}),
    ...(hasCredentials() ? {} : { credentials }),
  };
}
