/** A landscape whose costs are computed. */
export interface Landscape {
  shoots: number;
  /** The Shoots are spread over them evenly. */
  seeds: number;
  /** The part of the Shoots that are followed; the others are released. Between 0 and 1. */
  followed: number;
}

export const landscapes: Landscape[] = [
  { shoots: 10, seeds: 1, followed: 0.5 },
  { shoots: 1_000, seeds: 10, followed: 0.5 },
  { shoots: 100_000, seeds: 500, followed: 0.5 },
];

/** What cannot be measured here: it is decided by users, by networks, or by AWS. */
export const assumptions = {
  hoursPerMonth: 730,
  /** For each Shoot. */
  editsPerMonth: 30,
  reconciliationsPerMonth: 30,
  createdPerMonth: 0.1,
  /** A request of a function to an API server or to SQS, one after the other. */
  requestMs: 20,
  /** AWS gives a Lambda this part of a processor for each MB. */
  memoryOfOneCpuMb: 1769,
  /** serverless.yml. */
  lambdaMb: 512,
  /** Connections with which AWS polls each queue while it is empty, and how long each poll waits. */
  pollers: 5,
  pollSeconds: 20,
  /** A Lambda that was not called for so long starts again; and an instance is replaced after a while anyway. */
  warmSeconds: 300,
  instanceHours: 2,
  /** Lines that AWS adds to the log of an invocation. */
  platformLogBytes: 300,
  /** Knative ends an instance so long after its last event. */
  knativeIdleSeconds: 90,
  /** Shoots of one installation on Knative, whose bridge watches all seeds. */
  shootsPerBridge: 10_000,
};

/** What the charts and manifests reserve for a Pod; a test compares them with the manifests. */
export const reserved = {
  deployment: { cpu: 0.05, memoryMb: 134 },
  bridge: { cpu: 0.1, memoryMb: 201 },
  service: { cpu: 0.05, memoryMb: 134 },
};
