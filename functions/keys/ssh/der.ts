/** Tags of ASN.1 (X.690), as far as private keys use them. */
export const tags = { integer: 0x02, octetString: 0x04, oid: 0x06, sequence: 0x30, context0: 0xa0 } as const;

/** One element of DER. */
export interface DerElement {
  tag: number;
  content: Buffer;
}

/** The longest private key structure, RSA, has ten elements. */
const MOST_ELEMENTS = 16;

/**
 * Reads the elements that follow one another in a buffer, without their own elements. The work is bounded by the number
 * of elements, whatever their contents are.
 * @throws RangeError when the bytes end early or there are too many elements
 */
export function derElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (elements.length === MOST_ELEMENTS) throw new RangeError('the sequence has too many elements');
    const tag = bytes.readUInt8(at);
    const { length, start } = lengthAt(bytes, at + 1);
    if (start + length > bytes.length) throw new RangeError('the data ends early');
    elements.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return elements;
}

/** Returns the elements of the only SEQUENCE in a buffer. @throws RangeError when it is something else */
export function derSequence(bytes: Buffer): DerElement[] {
  const [sequence, more] = derElements(bytes);
  if (sequence?.tag !== tags.sequence || more !== undefined) throw new RangeError('not a SEQUENCE');
  return derElements(sequence.content);
}

/** Returns the content of an element. @throws RangeError when it is missing or has another tag */
export function contentOf(element: DerElement | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new RangeError('an element is missing');
  return element.content;
}

/** Lengths of more than two bytes do not occur in a private key. */
function lengthAt(bytes: Buffer, at: number): { length: number; start: number } {
  const first = bytes.readUInt8(at);
  if (first < 0x80) return { length: first, start: at + 1 };
  if (first === 0x81) return { length: bytes.readUInt8(at + 1), start: at + 2 };
  if (first === 0x82) return { length: bytes.readUInt16BE(at + 1), start: at + 3 };
  throw new RangeError('the length is not plausible');
}
