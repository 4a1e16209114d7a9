;; Makes the items of the scale benchmark: 64-bit arithmetic, which JavaScript has only in slow BigInt. Memory from 0 holds
;; the value and right behind it the key of the item made last.
(module
  (memory (export "memory") 1)

  ;; The state of the generator that chooses what is fetched; that of an item lives as long as its making.
  (global $pick0 (mut i64) (i64.const 0))
  (global $pick1 (mut i64) (i64.const 0))

  ;; The finalizer of murmur3 for 64 bits.
  (func $mix (param $x i64) (result i64)
    (local.set $x (i64.mul (i64.xor (local.get $x) (i64.shr_u (local.get $x) (i64.const 33)))
                           (i64.const 0xff51afd7ed558ccd)))
    (local.set $x (i64.mul (i64.xor (local.get $x) (i64.shr_u (local.get $x) (i64.const 33)))
                           (i64.const 0xc4ceb9fe1a85ec53)))
    (i64.xor (local.get $x) (i64.shr_u (local.get $x) (i64.const 33))))

  ;; The new second word of xorshift128+; its output is this plus the old second word.
  (func $step (param $s1 i64) (param $s0 i64) (result i64)
    (local.set $s1 (i64.xor (local.get $s1) (i64.shl (local.get $s1) (i64.const 23))))
    (i64.xor (i64.xor (local.get $s1) (local.get $s0))
             (i64.xor (i64.shr_u (local.get $s1) (i64.const 17)) (i64.shr_u (local.get $s0) (i64.const 26)))))

  (func $drawPick (result i64)
    (local $s0 i64)
    (local.set $s0 (global.get $pick1))
    (global.set $pick1 (call $step (global.get $pick0) (local.get $s0)))
    (global.set $pick0 (local.get $s0))
    (i64.add (global.get $pick1) (local.get $s0)))

  ;; The upper 64 bits of a product whose second factor has 32 bits at most.
  (func $high (param $draw i64) (param $bound i64) (result i64)
    (i64.shr_u
      (i64.add
        (i64.mul (i64.shr_u (local.get $draw) (i64.const 32)) (local.get $bound))
        (i64.shr_u (i64.mul (i64.and (local.get $draw) (i64.const 0xffffffff)) (local.get $bound)) (i64.const 32)))
      (i64.const 32)))

  ;; Whether a draw must be thrown away, so that all results below the bound are equally likely.
  (func $unfair (param $draw i64) (param $bound i64) (result i32)
    (i64.lt_u (i64.mul (local.get $draw) (local.get $bound))
              (i64.rem_u (i64.sub (i64.const 0) (local.get $bound)) (local.get $bound))))

  ;; Makes item number $number with a key of $keySize bytes, and returns the size of its value.
  (func (export "make") (param $number f64) (param $keySize i32) (result i32)
    (local $s0 i64) (local $s1 i64) (local $next i64) (local $draw i64)
    (local $size i32) (local $at i32) (local $end i32)
    (local.set $s0 (call $mix (i64.add (i64.trunc_f64_u (local.get $number)) (i64.const 1))))
    (local.set $s1 (call $mix (local.get $s0)))
    (loop $again
      (local.set $next (call $step (local.get $s0) (local.get $s1)))
      (local.set $draw (i64.add (local.get $next) (local.get $s1)))
      (local.set $s0 (local.get $s1))
      (local.set $s1 (local.get $next))
      (br_if $again (call $unfair (local.get $draw) (i64.const 501))))
    (local.set $size (i32.add (i32.const 250) (i32.wrap_i64 (call $high (local.get $draw) (i64.const 501)))))
    (local.set $end (i32.add (local.get $size) (local.get $keySize)))
    ;; The step written out, since a call for each word would take longer than the word.
    (loop $more
      (local.set $next (i64.xor (local.get $s0) (i64.shl (local.get $s0) (i64.const 23))))
      (local.set $next
        (i64.xor (i64.xor (local.get $next) (local.get $s1))
                 (i64.xor (i64.shr_u (local.get $next) (i64.const 17)) (i64.shr_u (local.get $s1) (i64.const 26)))))
      (i64.store (local.get $at) (i64.add (local.get $next) (local.get $s1)))
      (local.set $s0 (local.get $s1))
      (local.set $s1 (local.get $next))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $more (i32.lt_u (local.get $at) (local.get $end))))
    (local.get $size))

  (func (export "seedPicks") (param $seed f64)
    (global.set $pick0 (call $mix (i64.trunc_f64_u (local.get $seed))))
    (global.set $pick1 (call $mix (global.get $pick0))))

  ;; The number of an item to fetch, out of $count.
  (func (export "pick") (param $count f64) (result f64)
    (local $draw i64) (local $bound i64)
    (local.set $bound (i64.trunc_f64_u (local.get $count)))
    (loop $again
      (local.set $draw (call $drawPick))
      (br_if $again (call $unfair (local.get $draw) (local.get $bound))))
    (f64.convert_i64_u (call $high (local.get $draw) (local.get $bound)))))
