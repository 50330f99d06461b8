// The library by which Flux reads ranges of versions, behind standard input and output.
module shoot-flux/test/real/tools/semver

go 1.26.0

require github.com/Masterminds/semver/v3 v3.5.0
