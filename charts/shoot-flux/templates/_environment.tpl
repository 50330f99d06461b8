{{/* "true" where the watcher takes a role of AWS with the token of its ServiceAccount. */}}
{{- define "shoot-flux.usesWebIdentity" -}}
{{- if and (eq .Values.mode "bridge-sqs") .Values.sqs.roleArn }}true{{ end -}}
{{- end -}}

{{/* Environment variables of the container. gardenlet adds GARDEN_KUBECONFIG and SEED_NAME. */}}
{{- define "shoot-flux.environment" -}}
{{- $env := list -}}
{{- if eq .Values.mode "bridge-sqs" -}}
{{- with .Values.sqs.region }}{{ $env = append $env (dict "name" "AWS_REGION" "value" .) }}{{ end -}}
{{- if .Values.sqs.roleArn -}}
{{- $env = append $env (dict "name" "AWS_ROLE_ARN" "value" .Values.sqs.roleArn) -}}
{{- $env = append $env (dict "name" "AWS_WEB_IDENTITY_TOKEN_FILE" "value" "/var/run/secrets/shoot-flux/aws/token") -}}
{{- end -}}
{{- with .Values.sqs.credentialsSecretName -}}
{{- $secret := . -}}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" -}}
{{- $env = append $env (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" $secret "key" .))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $env = concat $env .Values.env -}}
{{- if $env }}{{ toYaml $env }}{{ end -}}
{{- end -}}
