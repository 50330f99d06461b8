/** One operation of a JSON patch (RFC 6902), as far as this product writes any. */
export interface JsonPatchOperation {
  op: 'add';
  /** JSON pointer, for example `/spec/template/spec/containers/0/args/-`. */
  path: string;
  value: unknown;
}
