#!/bin/bash
# Compiles the iOS client in each mode of the language, against declarations of ours of the SDK, and runs it over documents in
# memory. `npm run conformance` calls it.
#   bash check.sh FOLDER [CLIENT]
# Needs swiftc 6.2 or newer (nonisolated(nonsending), -default-isolation). Writes to the folder only.
# Exit code 0: it compiles in each mode, and all runs are good.
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "${1:?a folder for what is built}" && pwd)
tally=$(cd "$here/../../swift" && pwd)/Tally.swift
tally=${2:-$tally}
bad=0
swiftc --version 2>&1 | head -1

# Linux has no framework Network.
library=so network=-lNetwork
if [ "$(uname)" = Darwin ]; then library=dylib network=; fi

sdk() { # folder, more flags: the modules, in Swift 5 mode as the SDK's own, without checks of concurrency
  local to=$1
  shift
  mkdir -p "$to"
  local how=(-swift-version 5 -parse-as-library -emit-module -emit-library -suppress-warnings "$@")
  if [ -n "$network" ]; then
    swiftc "${how[@]}" -module-name Network -emit-module-path "$to/Network.swiftmodule" \
      -o "$to/libNetwork.$library" "$here/sdk/Network.swift" || return 1
  fi
  swiftc "${how[@]}" -module-name FirebaseCore -emit-module-path "$to/FirebaseCore.swiftmodule" \
    -o "$to/libFirebaseCore.$library" "$here/sdk/FirebaseCore.swift" &&
    swiftc "${how[@]}" -module-name FirebaseFirestore -I "$to" -L "$to" -lFirebaseCore \
      -emit-module-path "$to/FirebaseFirestore.swiftmodule" -o "$to/libFirebaseFirestore.$library" \
      "$here/sdk/FirebaseFirestore.swift"
}

compile() { # name, SDK's folder, flags and further files: to an object, since data races are found after the type check
  local name=$1 from=$2
  shift 2
  local log=$out/$name.log
  swiftc -c -wmo -parse-as-library -module-name App -diagnostic-style=llvm -I "$from" "$@" "$tally" -o "$out/$name.o" >"$log" 2>&1
  local code=$?
  echo "== $name: exit $code, $(grep -cE '(^|: )(fatal )?error: ' "$log") errors, $(grep -cE '(^|: )warning: ' "$log") warnings"
  sed -e "s|$here/||g" -e "s|$out/||g" "$log" | grep -E '(error|warning): ' | sort -u | sed 's/^/   /'
  [ $code = 0 ] || bad=1
}

sdk "$out/sdk" || { echo "the declarations of the SDK do not compile"; exit 2; }
sdk "$out/sdk-old" -D OLD_ASYNC || { echo "the declarations of the SDK do not compile with OLD_ASYNC"; exit 2; }

# What Xcode 26 turns on in a new project.
features() { for one in "$@"; do printf -- '-enable-upcoming-feature %s ' "$one"; done; }
both="InferIsolatedConformances NonisolatedNonsendingByDefault MemberImportVisibility"
five="DisableOutwardActorInference GlobalActorIsolatedTypesUsability InferSendableFromCaptures"

compile swift5 "$out/sdk" -swift-version 5
compile swift5-complete "$out/sdk" -swift-version 5 -strict-concurrency=complete
compile swift6 "$out/sdk" -swift-version 6
compile swift6-as-xcode16 "$out/sdk-old" -swift-version 6
compile swift5-xcode26-project "$out/sdk" -swift-version 5 -default-isolation MainActor $(features $both $five)
compile swift6-xcode26-project "$out/sdk" -swift-version 6 -default-isolation MainActor $(features $both)
for mode in 5 6; do
  compile "usage-swift$mode" "$out/sdk" -swift-version $mode "$here/usage.swift"
  compile "usage-swift$mode-deinit" "$out/sdk" -swift-version $mode -D DEINIT "$here/usage.swift"
done

build() { # name, SDK's folder, program, flags: Tally.swift and a program that uses it
  local name=$1 from=$2 program=$3
  shift 3
  swiftc -parse-as-library -module-name Smoke -suppress-warnings -diagnostic-style=llvm "$@" -I "$from" -L "$from" \
    -lFirebaseFirestore -lFirebaseCore $network "$tally" "$here/$program" -o "$out/$name" >"$out/$name.log" 2>&1 && return
  echo "== $name: does not compile"
  grep 'error: ' "$out/$name.log" | sed -e "s|$here/||g" -e 's/^/   /'
  bad=1
  return 1
}

run() { # name, SDK's folder, parts
  local name=$1 from=$2
  shift 2
  # macOS has no timeout.
  LD_LIBRARY_PATH=$from perl -e 'alarm shift; exec @ARGV' 60 "$out/$name" "$@" >"$out/$name.out" 2>&1
  local code=$?
  echo "== $name $*: exit $code (0 good, 1 wrong answer, 142 hangs, 132 to 134 stopped by the runtime)"
  [ $code = 0 ] && return
  tail -8 "$out/$name.out" | sed 's/^/   /'
  bad=1
}

for mode in 5 6; do
  build "smoke-swift$mode" "$out/sdk" smoke.swift -swift-version $mode && run "smoke-swift$mode" "$out/sdk"
  build "faults-swift$mode" "$out/sdk" faults.swift -swift-version $mode || continue
  for part in lost-answers refusals once many numbers other-queue release undos taps queued; do
    run "faults-swift$mode" "$out/sdk" $part
  done
done
# As Xcode 16.3 sees the SDK: completions are not @Sendable there.
build faults-swift6-old "$out/sdk-old" faults.swift -swift-version 6 &&
  run faults-swift6-old "$out/sdk-old" lost-answers many other-queue
exit $bad
