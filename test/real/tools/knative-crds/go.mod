// Knative Serving, for its CRDs alone: nothing of it is built.
module shoot-flux/test/real/tools/knative-crds

go 1.26.0

require knative.dev/serving v0.48.2
