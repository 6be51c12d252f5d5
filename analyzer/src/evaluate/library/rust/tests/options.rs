//! `Option` and `Result`.

use super::{tells, told};

#[test]
fn what_is_held() {
    tells(&[
        ("Some(3).unwrap()", 3),
        ("None.unwrap_or(4)", 4),
        ("Some(3).map(|x| x + 1).unwrap_or(0)", 4),
        ("None::<i32>.map_or(7, |x| x + 1)", 7),
        ("Some(3).and_then(|x| if x > 5 { Some(x) } else { None }).unwrap_or(9)", 9),
        ("Some(3).filter(|x| *x == 3).map_or(1, |_| 2)", 2),
        ("Some(3).or(Some(4)).unwrap()", 3),
        ("None.or_else(|| Some(4)).unwrap()", 4),
        ("Some(1).zip(Some(2)).map(|(a, b)| a + b).unwrap()", 3),
        ("Some(3).ok_or(\"no\").unwrap()", 3),
        ("if Some(3).is_some_and(|x| x > 2) { 1 } else { 0 }", 1),
        ("Ok::<i32, String>(5).ok().unwrap()", 5),
        ("Err::<i32, i32>(5).unwrap_or_else(|e| e + 1)", 6),
        ("Err::<i32, i32>(5).map_err(|e| e * 2).unwrap_err()", 10),
        ("Some(Some(3)).flatten().unwrap()", 3),
        ("Some(&3).copied().unwrap()", 3),
        ("{ let x: Option<i32> = None; x.unwrap_or_default() + 1 }", 1),
        ("Some(3).iter().count() as i32", 1),
    ]);
}

#[test]
fn what_changes() {
    assert_eq!(
        told(
            "let mut x = Some(3);
             tell(x.take().unwrap());
             tell(x.is_none() as i32);
             tell(*x.get_or_insert_with(|| 7));
             tell(x.replace(8).unwrap());
             if let Some(y) = x.as_mut() { *y += 1; }
             tell(x.unwrap());"
        ),
        [3, 1, 7, 7, 9]
    );
}
