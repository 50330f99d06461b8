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
