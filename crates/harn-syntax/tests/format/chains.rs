//! Members and methods after a value.

use super::{check_value, check_width};

#[test]
fn a_broken_chain_stays_broken() {
    check_value("a\n.b()\n.c()", "a\n  .b()\n  .c()");
    check_value("a.b()\n.c().d()", "a\n  .b()\n  .c()\n  .d()");
    check_value("a.b\n?.c()", "a.b\n  ?.c()");
    check_value("a.b()[0]\n.c()", "a\n  .b()[0]\n  .c()");
}

#[test]
fn others_stay_on_their_line() {
    check_value("a.b().c().d", "a.b().c().d");
    check_value(
        "a . b ( ) [ 0 ] ?. c ?[ 1 ] [ 1 : 2 ] [ : ]",
        "a.b()[0]?.c?[1][1:2][:]",
    );
}

#[test]
fn a_chain_that_does_not_fit_is_broken() {
    check_width(
        20,
        "let x = aaaa.bbbb(c).dddd(e)",
        "let x = aaaa\n  .bbbb(c)\n  .dddd(e)\n",
    );
    check_width(
        20,
        "let x = aaaa.bbbb(ccccc)",
        "let x = aaaa.bbbb(\n  ccccc,\n)\n",
    );
}
