import { SQSClient } from '@aws-sdk/client-sqs';

/**
 * Returns a client of SQS.
 * @param endpoint another SQS than AWS's, for example `http://127.0.0.1:4566`. Default: AWS in the region
 */
export function createSqsClient(endpoint?: string): SQSClient {
  return new SQSClient({ maxAttempts: 4, ...(endpoint !== undefined && { endpoint, ...emulator(endpoint) }) });
}

/** Variables of which one is set where the SDK finds credentials without asking for an instance's role. */
const CREDENTIALS = [
  'AWS_ACCESS_KEY_ID',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_PROFILE',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
];

/** Emulators accept any signature; without credentials the SDK would look for an instance role first. */
function emulator(endpoint: string) {
  if (new URL(endpoint).hostname.endsWith('.amazonaws.com')) return {};
  const hasCredentials = CREDENTIALS.some((name) => process.env[name] !== undefined);
  const credentials = { accessKeyId: 'shoot-flux', secretAccessKey: 'shoot-flux' };
  return {
    ...(process.env.AWS_REGION === undefined && { region: 'us-east-1' }),
    ...(!hasCredentials && { credentials }),
  };
}
