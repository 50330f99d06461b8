{{/*
Roles and bindings of one identity:
`include … (dict "root" $ "name" "readiness" "rights" $rights.functions.readiness "subjects" $subjects)`.
*/}}
{{- define "shoot-flux.identity" -}}
{{- $role := printf "%s:%s" (include "shoot-flux.clusterPrefix" .root) .name -}}
{{- if .rights.rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $role }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
rules:
  {{- toYaml .rights.rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $role }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $role }}
subjects:
  {{- toYaml .subjects | nindent 2 }}
{{- end }}
{{- if .rights.own }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $role }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
rules:
  {{- toYaml .rights.own | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $role }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "shoot-flux.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $role }}
subjects:
  {{- toYaml .subjects | nindent 2 }}
{{- end }}
{{- end -}}
