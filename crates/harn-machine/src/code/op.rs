//! The instructions of the machine.
//!
//! ```text
//!  63      56 55       48 47            32 31            16 15             0
//! ┌──────────┬───────────┬────────────────┬────────────────┬────────────────┐
//! │    op    │     n     │       a        │       b        │       c        │
//! └──────────┴───────────┴────────────────┴────────────────┴────────────────┘
//!                                          └───── wide: b and c as one ────┘
//! ```
//!
//! `a`, `b` and `c` are mostly registers of the frame, numbered from 0. `n` is a small number
//! that belongs to the instruction: how many arguments a call has, or which of the operands
//! are read for the last time and may be moved (`TAKE_B`, `TAKE_C`).
//!
//! Jumps are relative to the instruction after the jump. Where an operand is a *window*, it
//! is the first of several consecutive registers, which the instruction empties.
//!
//! The table below says for each instruction what its operands are. The verifier, the
//! disassembler and the search for last uses all read it, so they cannot disagree with it.

/// `n` of an instruction whose operand `b` is read for the last time.
pub(crate) const TAKE_B: u8 = 1;
/// `n` of an instruction whose operand `c` is read for the last time.
pub(crate) const TAKE_C: u8 = 2;

/// `n` of an access that gives nil where it would fail.
pub(crate) const OPTIONAL: u8 = 4;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// Nothing; 0.
    None,
    /// A register that is read.
    Read,
    /// A register that is written.
    Write,
    /// A register that is read and written.
    Change,
    /// The first of several registers that are read and emptied; how many depends.
    Window,
    /// A signed number.
    Number,
    /// A distance to jump, signed.
    Jump,
    /// A constant.
    Constant,
    /// A place that remembers what it saw, with a name.
    Site,
    /// A list of keys.
    Keys,
    /// A shape of a struct.
    Shape,
    /// A path of an assignment.
    Path,
    /// A builtin.
    Builtin,
    /// A global.
    Global,
    /// A function inside this one.
    Function,
    /// A capture.
    Capture,
    /// A check of a parameter.
    Check,
}

macro_rules! operand {
    (-) => {
        Operand::None
    };
    ($name:ident) => {
        Operand::$name
    };
}

macro_rules! ops {
    (
        three { $($(#[$doc:meta])* $name:ident $a:tt $b:tt $c:tt;)* }
        wide { $($(#[$wide_doc:meta])* $wide:ident $wide_a:tt $wide_b:tt;)* }
    ) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub(crate) enum Op {
            $($(#[$doc])* $name,)*
            $($(#[$wide_doc])* $wide,)*
        }

        impl Op {
            /// Every instruction.
            pub(crate) const ALL: &[Op] = &[$(Op::$name,)* $(Op::$wide,)*];

            /// What `a`, `b` and `c` are. Of a wide one, the second stands for both.
            pub(crate) fn operands(self) -> [Operand; 3] {
                match self {
                    $(Op::$name => [operand!($a), operand!($b), operand!($c)],)*
                    $(Op::$wide => [operand!($wide_a), operand!($wide_b), Operand::None],)*
                }
            }

            /// Whether `b` and `c` are one operand.
            pub(crate) fn is_wide(self) -> bool {
                matches!(self, $(Op::$wide)|*)
            }
        }
    };
}

ops! {
    three {
        /// a = nil
        LoadNil Write - -;
        /// a = true
        LoadTrue Write - -;
        /// a = false
        LoadFalse Write - -;
        /// a = nothing
        LoadAbsent Write - -;
        /// a = b
        Move Write Read -;
        /// a = what was captured as b
        GetCapture Write Capture -;
        /// a = the closure that runs
        GetSelf Write - -;
        /// a = a new cell for a function that is declared later
        MakeLate Write - -;
        /// a = what is in the cell b, or nothing
        GetLate Write Read -;
        /// the cell a holds b
        SetLate Read Read -;

        /// a = b + c
        Add Write Read Read;
        /// a = b - c
        Subtract Write Read Read;
        /// a = b * c
        Multiply Write Read Read;
        /// a = b / c
        Divide Write Read Read;
        /// a = b % c
        Remainder Write Read Read;
        /// a = b ** c
        Power Write Read Read;
        /// a = b + number c
        AddInt Write Read Number;
        /// a = b - number c
        SubtractInt Write Read Number;
        /// a = b * number c
        MultiplyInt Write Read Number;
        /// a = b / number c
        DivideInt Write Read Number;
        /// a = b % number c
        RemainderInt Write Read Number;
        /// a = -b
        Negate Write Read -;
        /// a = !b
        Not Write Read -;
        /// a = whether b is truthy
        Truth Write Read -;
        /// a = b == c
        Equal Write Read Read;
        /// a = b != c
        NotEqual Write Read Read;
        /// a = b < c
        Less Write Read Read;
        /// a = b <= c
        LessEqual Write Read Read;
        /// a = b in c
        In Write Read Read;
        /// a = b not in c
        NotIn Write Read Read;

        /// if a < b: jump c
        JumpLess Read Read Jump;
        /// unless a < b: jump c
        JumpNotLess Read Read Jump;
        /// if a <= b: jump c
        JumpLessEqual Read Read Jump;
        /// unless a <= b: jump c
        JumpNotLessEqual Read Read Jump;
        /// if a == b: jump c
        JumpEqual Read Read Jump;
        /// if a != b: jump c
        JumpNotEqual Read Read Jump;
        /// if a < number b: jump c
        JumpLessInt Read Number Jump;
        /// unless a < number b: jump c
        JumpNotLessInt Read Number Jump;
        /// if a <= number b: jump c
        JumpLessEqualInt Read Number Jump;
        /// unless a <= number b: jump c
        JumpNotLessEqualInt Read Number Jump;
        /// if a > number b: jump c
        JumpGreaterInt Read Number Jump;
        /// unless a > number b: jump c
        JumpNotGreaterInt Read Number Jump;
        /// if a >= number b: jump c
        JumpGreaterEqualInt Read Number Jump;
        /// unless a >= number b: jump c
        JumpNotGreaterEqualInt Read Number Jump;
        /// if a == number b: jump c
        JumpEqualInt Read Number Jump;
        /// if a != number b: jump c
        JumpNotEqualInt Read Number Jump;

        /// a = a list of the c values in window b
        NewList Write Window Number;
        /// the list a gets b at its end
        ListPush Change Read -;
        /// the list a gets all of the list b
        ListSpread Change Read -;
        /// a = a dict with keys b (sorted) and as many values in window c
        NewDict Write Keys Window;
        /// a = an empty dict
        EmptyDict Write - -;
        /// the dict a gets value c by key b, whatever b is
        DictPut Change Read Read;
        /// the dict a gets all of the dict b
        DictSpread Change Read -;
        /// a = a struct of shape b with the values in window c
        NewStruct Write Shape Window;
        /// a = a struct of shape b with the fields of the dict c
        StructFrom Write Shape Read;
        /// a = the variant with tag b (a constant: the variant without values) and the n values
        /// in window c
        NewEnum Write Constant Window;
        /// a = the variant with tag b (a constant) and the items of the list c
        NewEnumSpread Write Constant Read;
        /// a = b to c; n is 1 if c is left out
        NewRange Write Read Read;
        /// a = the texts of the c values in window b, joined
        Concat Write Window Number;
        /// a = b.c; OPTIONAL in n
        GetField Write Read Site;
        /// a = b[c]; OPTIONAL in n
        GetIndex Write Read Read;
        /// a = b[b+1 : b+2], a window of three
        Slice Write Window -;
        /// a.b = c
        SetField Change Site Read;
        /// a[b] = c
        SetIndex Change Read Read;
        /// the place that path b leads to in a is set to c
        SetPath Change Path Read;

        /// a = call of the function in c with the n arguments in window b
        Call Write Window Read;
        /// a = call of the function in global c with the n arguments in window b
        CallGlobal Write Window Global;
        /// a = call of builtin c with the n arguments in window b
        CallBuiltin Write Window Builtin;
        /// a = call of method c of the first value in window b with the n values after it
        CallMethod Write Window Site;
        /// a = call of the function in c with the items of the list b
        CallSpread Write Read Read;
        /// a = call of builtin c with the items of the list b
        CallBuiltinSpread Write Read Builtin;
        /// a = call of method c of the first value in window b with the items of the second
        CallMethodSpread Write Window Site;
        /// return call of the function in c with the n arguments in window b
        TailCall - Window Read;
        /// return call of the function in global c with the n arguments in window b
        TailCallGlobal - Window Global;
        /// a = b |> c
        Pipe Write Read Read;
        /// return a
        Return Read - -;
        /// return nil
        ReturnNil - - -;
        /// a is the method c of structs called b (both constants)
        DefineMethod Read Constant Constant;
        /// a, or nothing, is what the function yields now
        Yield Read - -;

        /// a = a task that runs the closure b
        Spawn Write Read -;
        /// a = the source, the limit and the closure in window b, run in parallel; n is how
        Parallel Write Window -;
        /// a and the register after it = which of the c channels in window b has a value, and
        /// that value; if n is 1 a time follows the channels, if n is 2 it does not wait.
        /// −1: time is over or none is ready; −2: all are closed
        Select Write Window Number;

        /// throw a
        Throw Read - -;
        /// let the error a go on
        Rethrow Read - -;
        /// a = what the error b is to a program
        CatchValue Write Read -;
        /// unless the error a is an enum called b (a constant): jump c
        JumpUnlessCaught Read Constant Jump;
        /// from here on the frame has a deadline, in a
        DeadlinePush Read - -;
        /// the last deadline is over
        DeadlinePop - - -;
        /// if b is `Ok`: a = what it carries; if it is `Err`: a = b and jump c
        Unwrap Write Read Jump;

        /// a becomes the state of a loop over a, together with the register after it
        ForPrepare Change - -;
        /// b = the next item of loop a, and jump c; at its end: go on
        ForLoop Change Write Jump;

        /// unless a is the variant with tag b (a constant): jump c
        JumpUnlessTag Read Constant Jump;
        /// a = what the variant b carries at c, or nil
        Payload Write Read Number;
        /// unless a is a list of at least b items: jump c
        JumpUnlessList Read Number Jump;
        /// a = the items of the list b from c on
        ListRest Write Read Number;
        /// fail unless a is a dict
        ExpectDict Read - -;
        /// fail unless a is a list
        ExpectList Read - -;
        /// a = the dict b without the keys c
        DictRest Write Read Keys;
        /// the list a of blocks to run at the end gets number b
        DeferPush Change Number -;
        /// the last block in the list a of blocks to run at the end loses its place there and
        /// gets back what was kept for it
        DeferRestore Change - -;
    }
    wide {
        /// a = number
        LoadInt Write Number;
        /// a = constant
        LoadConstant Write Constant;
        /// a = global
        GetGlobal Write Global;
        /// global = a
        SetGlobal Read Global;
        /// if a is nothing: jump
        JumpIfAbsent Read Jump;
        /// unless a can be called: jump
        JumpUnlessCallable Read Jump;
        /// fail with a constant text; n tells how
        Raise - Constant;
        /// the statement of this number runs
        Cover - Number;
        /// jump
        Jump - Jump;
        /// if a is truthy: jump
        JumpIf Read Jump;
        /// unless a is truthy: jump
        JumpUnless Read Jump;
        /// if a is nil: jump
        JumpIfNil Read Jump;
        /// unless a is nil: jump
        JumpUnlessNil Read Jump;
        /// unless a is a dict: jump
        JumpUnlessDict Read Jump;
        /// a = closure of a function inside this one
        MakeClosure Write Function;
        /// fail unless a passes the check
        CheckParameter Read Check;
        /// if argument a (a number) was passed: jump
        JumpIfPassed Number Jump;
        /// jump to the last block in the list a of blocks to run at the end, which loses it
        /// now or at the beginning of the block; if there is none: jump
        DeferNext Change Jump;
        /// the blocks in the list a of blocks to run at the end keep what they need of the
        /// round that is over
        DeferKeep Change Number;
    }
}

/// How `Raise` fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Raised {
    /// With a text of its own, such as `Undefined variable: x`.
    Own,
    /// As a run-time error.
    Runtime,
    /// As a type error.
    Type,
    /// As a thrown text.
    Thrown,
    /// Because there is no variable of that name. The constant is the name, or a list of the
    /// name and the variable that resembles it most.
    UndefinedVariable,
    /// Because there is no function of that name.
    UndefinedBuiltin,
}

impl Raised {
    /// The way with that number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        const ALL: [Raised; 6] = [
            Raised::Own,
            Raised::Runtime,
            Raised::Type,
            Raised::Thrown,
            Raised::UndefinedVariable,
            Raised::UndefinedBuiltin,
        ];
        ALL.get(usize::from(number)).copied()
    }
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction(u64);

impl Instruction {
    /// An instruction with three operands.
    pub(crate) fn new(op: Op, n: u8, a: u16, b: u16, c: u16) -> Self {
        let head = u64::from(op as u8) << 56 | u64::from(n) << 48;
        Self(head | u64::from(a) << 32 | u64::from(b) << 16 | u64::from(c))
    }

    /// An instruction with a wide operand.
    pub(crate) fn wide(op: Op, n: u8, a: u16, wide: u32) -> Self {
        let head = u64::from(op as u8) << 56 | u64::from(n) << 48;
        Self(head | u64::from(a) << 32 | u64::from(wide))
    }

    /// What it does.
    #[inline(always)]
    #[allow(unsafe_code, reason = "a check here would cost every instruction one")]
    pub(crate) fn op(self) -> Op {
        // SAFETY: an instruction is only ever made from an `Op`, whose number this is.
        unsafe { std::mem::transmute::<u8, Op>((self.0 >> 56) as u8) }
    }

    /// The number of the op.
    #[inline(always)]
    pub(crate) fn op_number(self) -> u8 {
        (self.0 >> 56) as u8
    }

    /// The small number.
    #[inline(always)]
    pub(crate) fn n(self) -> u8 {
        (self.0 >> 48) as u8
    }

    /// The first operand.
    #[inline(always)]
    pub(crate) fn a(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// The second operand.
    #[inline(always)]
    pub(crate) fn b(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The third operand.
    #[inline(always)]
    pub(crate) fn c(self) -> u16 {
        self.0 as u16
    }

    /// The second operand as a signed number.
    #[inline(always)]
    pub(crate) fn signed_b(self) -> i16 {
        self.b() as i16
    }

    /// The third operand as a signed number.
    #[inline(always)]
    pub(crate) fn signed_c(self) -> i16 {
        self.c() as i16
    }

    /// The wide operand.
    #[inline(always)]
    pub(crate) fn wide_bc(self) -> u32 {
        self.0 as u32
    }

    /// The wide operand as a signed number.
    #[inline(always)]
    pub(crate) fn signed_wide(self) -> i32 {
        self.0 as u32 as i32
    }

    /// The same with another small number.
    pub(crate) fn with_n(self, n: u8) -> Self {
        Self(self.0 & !(0xff << 48) | u64::from(n) << 48)
    }
}

impl std::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (op, n) = (self.op(), self.n());
        write!(f, "{op:?}/{n} {} {} {}", self.a(), self.b(), self.c())
    }
}
