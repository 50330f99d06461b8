{{/* Written by "npm run docs" from templates of the chart shoot-flux. */}}
{{/* Name of all objects in the namespace of the release. A Service must not have the dots that a release may have. */}}
{{- define "shoot-flux.fullname" -}}
{{- $name := .Release.Name | replace "." "-" -}}
{{- if contains "shoot-flux" ($name | trunc 40) -}}
{{- $name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-shoot-flux" ($name | trunc 29 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* Prefix of the names of cluster-scoped objects: several installations may share a cluster. */}}
{{- define "shoot-flux.clusterPrefix" -}}
{{- printf "extensions.gardener.cloud:%s:%s" .Release.Namespace (include "shoot-flux.fullname" .) -}}
{{- end -}}

{{/* A version as the value of a label, which may not contain `+` nor be longer than 63 characters. */}}
{{- define "shoot-flux.labelValue" -}}
{{- regexReplaceAll "[^A-Za-z0-9]+$" (. | replace "+" "_" | trunc 63) "" -}}
{{- end -}}

{{/* Labels of an object that Gardener's resource-manager creates and never updates: a version would become wrong. */}}
{{- define "shoot-flux.stableLabels" -}}
app.kubernetes.io/name: shoot-flux
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Labels of all other objects. */}}
{{- define "shoot-flux.labels" -}}
{{ include "shoot-flux.stableLabels" . }}
app.kubernetes.io/version: {{ include "shoot-flux.labelValue" .Chart.AppVersion | quote }}
helm.sh/chart: {{ include "shoot-flux.labelValue" (printf "%s-%s" .Chart.Name .Chart.Version) }}
{{- end -}}

{{/* Labels that select the Pods of a component: `include … (dict "root" $ "component" "controller")`. */}}
{{- define "shoot-flux.selectorLabels" -}}
app.kubernetes.io/name: shoot-flux
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* The entry `shoot-flux` of imageVectorOverwrite as YAML: the last one, or an empty object. */}}
{{- define "shoot-flux.imageOverwrite" -}}
{{- $found := dict -}}
{{- $vector := .Values.imageVectorOverwrite -}}
{{- if kindIs "string" $vector -}}
{{- $vector = fromYaml $vector -}}
{{- if hasKey $vector "Error" }}{{ fail (printf "imageVectorOverwrite is not YAML with the key images: %s" $vector.Error) }}{{ end -}}
{{- end -}}
{{- if $vector -}}
{{- if not (hasKey $vector "images") }}{{ fail "imageVectorOverwrite has no key images, which holds the list of images" }}{{ end -}}
{{- if not (kindIs "slice" $vector.images) }}{{ fail "imageVectorOverwrite.images is not a list of images" }}{{ end -}}
{{- range $vector.images -}}
{{- if not (and (kindIs "map" .) .name) }}{{ fail "imageVectorOverwrite.images has an entry without a name" }}{{ end -}}
{{- if eq (toString .name) "shoot-flux" -}}
{{- $entry := . -}}
{{- range list "repository" "tag" "ref" -}}
{{- if and (hasKey $entry .) (not (kindIs "string" (get $entry .))) }}{{ fail (printf "imageVectorOverwrite: %s of the image shoot-flux is not a text; quote it" .) }}{{ end -}}
{{- end -}}
{{- if not (or .repository .tag .ref) }}{{ fail "imageVectorOverwrite: the image shoot-flux has none of repository, tag and ref" }}{{ end -}}
{{- $found = pick . "repository" "tag" "ref" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{/* The image: the values under `image`, overwritten by the entry of imageVectorOverwrite. A tag there replaces the digest here. */}}
{{- define "shoot-flux.image" -}}
{{- $entry := include "shoot-flux.imageOverwrite" . | fromYaml -}}
{{- if $entry.ref -}}
{{- $entry.ref -}}
{{- else -}}
{{- $tag := .Values.image.tag | default (.Chart.AppVersion | replace "+" "_") -}}
{{- $digest := .Values.image.digest -}}
{{- with $entry.tag -}}
{{- $isDigest := hasPrefix "sha256:" . -}}
{{- $tag = ternary "" . $isDigest -}}
{{- $digest = ternary . "" $isDigest -}}
{{- end -}}
{{- $entry.repository | default .Values.image.repository -}}
{{- with $tag }}:{{ . }}{{ end -}}
{{- with $digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* `defaults`, `policy`, `rollout` or `addons` as YAML: `include … (dict "root" $ "name" "policy")`. A text is what Gardener has copied from a ConfigMap. */}}
{{- define "shoot-flux.landscapeValue" -}}
{{- $value := index .root.Values .name -}}
{{- if kindIs "string" $value -}}
{{- $value = fromYaml $value -}}
{{- if hasKey $value "Error" }}{{ fail (printf "%s is not an object in YAML: %s" .name $value.Error) }}{{ end -}}
{{- end -}}
{{- toYaml $value -}}
{{- end -}}

{{/* Name of a ServiceAccount: `include … (dict "root" $ "identity" "webhooks")`. The Pods of the Deployment have the identity `controller`. */}}
{{- define "shoot-flux.serviceAccountName" -}}
{{- if eq .identity "controller" -}}
{{- include "shoot-flux.fullname" .root -}}
{{- else -}}
{{- printf "%s-%s" (include "shoot-flux.fullname" .root) .identity -}}
{{- end -}}
{{- end -}}

{{/* Priority class; gardener-operator sets its own on the runtime cluster. */}}
{{- define "shoot-flux.priorityClassName" -}}
{{- $runtime := (.Values.gardener).runtimeCluster | default dict -}}
{{- $runtime.priorityClassName | default .Values.priorityClassName -}}
{{- end -}}

{{/* Labels that open Gardener's network policies: DNS, the seed, the garden, and hosts whose keys are scanned. */}}
{{- define "shoot-flux.networkLabels" -}}
networking.gardener.cloud/to-dns: allowed
networking.gardener.cloud/to-runtime-apiserver: allowed
networking.gardener.cloud/to-private-networks: allowed
networking.gardener.cloud/to-public-networks: allowed
networking.resources.gardener.cloud/to-garden-virtual-garden-kube-apiserver-tcp-443: allowed
{{- /* Where the seed is the garden's runtime cluster, the address of the garden leads through its own ingress. */}}
networking.resources.gardener.cloud/to-all-istio-ingresses-istio-ingressgateway-tcp-9443: allowed
{{- end -}}

{{/* Annotations of a Service that let the Prometheus instances of a seed, in namespace garden, read the port `metrics`. */}}
{{- define "shoot-flux.scrapeAnnotations" -}}
networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports: '[{"port":8080,"protocol":"TCP"}]'
networking.resources.gardener.cloud/namespace-selectors: '[{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]'
networking.resources.gardener.cloud/pod-label-selector-namespace-alias: extensions
{{- end -}}

{{/* Security context of Pods: Pod Security Standard "restricted". */}}
{{- define "shoot-flux.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* Security context of containers. */}}
{{- define "shoot-flux.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end -}}

{{/*
"true" where an optional object is rendered: `include … (dict "root" $ "enabled" .Values.vpa.enabled)`. `auto` is true
where Gardener installs the chart: its clusters have the kinds of the vertical Pod autoscaler and of Prometheus.
*/}}
{{- define "shoot-flux.isEnabled" -}}
{{- if or (eq (toString .enabled) "true") (and (eq (toString .enabled) "auto") .root.Values.gardener) }}true{{ end -}}
{{- end -}}

{{/*
The certificate of the webhooks from cert-manager, and its authority unless there is an issuer:
`include … (dict "root" $ "name" … "secretName" … "host" … "issuerRef" …)`.
*/}}
{{- define "shoot-flux.certificate" -}}
{{- $issuer := .issuerRef }}
{{- if not $issuer }}
{{- $issuer = dict "kind" "Issuer" "name" .name }}
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: {{ .name }}-self-signed
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
spec:
  selfSigned: {}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ .name }}-authority
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
spec:
  isCA: true
  commonName: shoot-flux webhooks
  secretName: {{ .name }}-authority
  # Long, because API servers trust one authority at a time.
  duration: 87600h
  privateKey:
    algorithm: ECDSA
    size: 256
  issuerRef:
    kind: Issuer
    name: {{ .name }}-self-signed
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
spec:
  ca:
    secretName: {{ .name }}-authority
---
{{- end }}
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
spec:
  secretName: {{ .secretName }}
  dnsNames:
    - {{ .host }}
  privateKey:
    algorithm: ECDSA
    size: 256
    rotationPolicy: Always
  issuerRef:
    {{- toYaml $issuer | nindent 4 }}
{{- end -}}
