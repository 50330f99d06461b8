import { describe, expect, it } from 'vitest';
import { signedHeaders } from './request.ts';

describe('AWS Signature Version 4', () => {
  // The worked example of the AWS documentation: ListUsers of IAM.
  it('equals the signature that AWS computes for its own example', async () => {
    const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
    const headers = await signedHeaders(
      { region: 'us-east-1', credentials },
      'GET',
      new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08'),
      {
        service: 'iam',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body: '',
      },
      new Date('2015-08-30T12:36:00Z'),
    );
    expect(headers.authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
        'SignedHeaders=content-type;host;x-amz-date, ' +
        'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    );
  });
});
