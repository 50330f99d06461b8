import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  /** PEM; also its own authority. */
  cert: string;
  key: string;
}

let made: Certificate | undefined;

/** Returns a certificate for the loopback addresses, one per process. */
export function loopbackCertificate(): Certificate {
  made ??= make();
  return made;
}

/** Writes the certificate by hand (RFC 5280): node-forge only signs with RSA, whose keys take 50 ms and more. */
function make(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(ecdsaWithSha256);
  const name = sequence(set(sequence(commonName, der(UTF8_STRING, Buffer.from('embedded-kubernetes-api')))));
  const validity = sequence(utcTime('250101000000Z'), utcTime('491231235959Z'));
  const altNames = sequence(der(ALT_IP, Buffer.from([127, 0, 0, 1])), der(ALT_DNS, Buffer.from('localhost')));
  const extensions = sequence(
    sequence(basicConstraints, TRUE, der(OCTET_STRING, sequence(TRUE))),
    sequence(subjectAltName, der(OCTET_STRING, altNames)),
  );
  const content = sequence(
    der(VERSION, integer(2)),
    integer(1),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, extensions),
  );
  const signature = der(BIT_STRING, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]));
  const base64 = sequence(content, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const [INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING, UTC_TIME] = [0x02, 0x03, 0x04, 0x0c, 0x17];
const [VERSION, EXTENSIONS, ALT_DNS, ALT_IP] = [0xa0, 0xa3, 0x82, 0x87];
const TRUE = Buffer.from([0x01, 0x01, 0xff]);
/** 1.2.840.10045.4.3.2 */
const ecdsaWithSha256 = Buffer.from('06082a8648ce3d040302', 'hex');
/** 2.5.4.3 */
const commonName = Buffer.from('0603550403', 'hex');
/** 2.5.29.19 */
const basicConstraints = Buffer.from('0603551d13', 'hex');
/** 2.5.29.17 */
const subjectAltName = Buffer.from('0603551d11', 'hex');

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]) => der(0x31, Buffer.concat(parts));
const integer = (value: number) => der(INTEGER, Buffer.from([value]));

/** @param text `YYMMDDHHMMSSZ` */
const utcTime = (text: string) => der(UTC_TIME, Buffer.from(text));
