/** The value of an option, from whichever source. */
export type Value = string | boolean | string[] | object;
