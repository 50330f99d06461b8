// osls loads its `${file(...)}` sources by require; the content is in serverless.ts.
module.exports = async ({ resolveVariable }) => (await import('./serverless.ts')).serverlessParts(resolveVariable);
